package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"larder.local/cmd/larder/cli"
	"larder.local/cmd/larder/client"
	"larder.local/internal/sleep"
)

// scenario uses larder as a storefront and an operator would. Each step checks its results.
type scenario struct {
	demo                 *demo
	daemon, ops, sandbox *client.Client // as the storefront, as an operator, and for the sandbox's own routes
	restaurant           string
	good, bad            []byte // orders
	steps                []scenarioStep
}

// scenarioStep is the output of one step.
type scenarioStep struct {
	Name  string   `json:"step"`
	Lines []string `json:"lines"`
	Error string   `json:"error,omitempty"`
}

func newScenario(ctx context.Context, d *demo, base string) (*scenario, error) {
	shop, ops, restaurant := d.cfg.Auth.Clients[0], d.cfg.Auth.Clients[1], string(d.cfg.Restaurants[0].ID)
	s := &scenario{demo: d, restaurant: restaurant, sandbox: client.New(ctx, d.sandbox.url, "", "")}
	s.daemon, s.ops = client.New(ctx, base, shop.ID, shop.Secret), client.New(ctx, base, ops.ID, ops.Secret)
	var err error
	s.good, s.bad, err = SampleOrders(d.sample, restaurant)
	return s, err
}

// run runs and prints the steps until one fails.
func (s *scenario) run(ctx context.Context) (err error) {
	begun := time.Now()
	defer func() {
		switch ended := recover().(type) {
		case nil:
		case failure:
			last := &s.steps[len(s.steps)-1]
			err = fmt.Errorf("%s: %w", last.Name, ended.error)
			last.Error = err.Error()
		default:
			panic(ended)
		}
		if s.demo.json {
			err = errors.Join(err, cli.PrintJSON(s.demo.env.Out, s.steps))
		} else if err == nil {
			s.demo.env.Out.Printf("\nAll steps passed in %.1f s.\n", time.Since(begun).Seconds())
		}
	}()
	s.menus(ctx)
	placed := s.orders(ctx)
	s.unknown(ctx)
	s.closed(ctx, placed)
	return nil
}

// step begins a step.
func (s *scenario) step(name string) { s.steps = append(s.steps, scenarioStep{Name: name}) }

// say prints a line of the current step.
func (s *scenario) say(format string, args ...any) {
	step, label := &s.steps[len(s.steps)-1], ""
	if len(step.Lines) == 0 {
		label = fmt.Sprintf("%2d. %s", len(s.steps), step.Name)
	}
	line := fmt.Sprintf(format, args...)
	step.Lines = append(step.Lines, line)
	if !s.demo.json {
		s.demo.env.Out.Printf("%-21s %s\n", label, line)
	}
}

// failure is the error that ends a step.
type failure struct{ error }

// expect ends the step with an error unless ok.
func expect(ok bool, format string, args ...any) {
	if !ok {
		panic(failure{fmt.Errorf(format, args...)})
	}
}

// check ends the step if err is not nil.
func check(err error) { expect(err == nil, "%w", err) }

// must returns the value, or ends the step if err is not nil.
func must[T any](value T, err error) T {
	check(err)
	return value
}

// waitForMenus returns all restaurants when each of them has a menu.
func (s *scenario) waitForMenus(ctx context.Context) ([]cli.Restaurant, error) {
	const limit = 2 * time.Minute
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not all menus were synced within %v", limit))
	defer cancel()
	for {
		all, err := cli.Restaurants(ctx, s.daemon)
		missing := slices.DeleteFunc(slices.Clone(all), func(r cli.Restaurant) bool { return r.Version > 0 })
		if err != nil || len(missing) == 0 {
			return all, err
		}
		if err := sleep.For(ctx, 20*time.Millisecond); err != nil {
			ids := cli.Mapped(missing, func(r cli.Restaurant) string { return r.ID })
			return nil, fmt.Errorf("%w; without a menu: %s", err, strings.Join(ids, ", "))
		}
	}
}

// menus checks that every restaurant has a menu.
func (s *scenario) menus(ctx context.Context) {
	s.step("menu synced")
	all := must(s.waitForMenus(ctx))
	served := must(client.Get[*cli.Storefront](ctx, s.daemon, client.RestaurantPath(s.restaurant)+"/menu"))
	s.say("%s: version %d, %s", served.Restaurant.Name, served.Version, cli.Plural(len(served.Products), "dish", "dishes"))
	if others := len(all) - 1; others > 0 {
		s.say("menus of other restaurants: %d", others)
	}
}

// place places an order, again at the rate limit. The response, which may be an error, must have the status.
func (s *scenario) place(ctx context.Context, order []byte, key string, want int) (answer *client.Reply, refused *client.Error) {
	var err error
	for range 5 {
		answer, err = s.daemon.Call(ctx, http.MethodPost, client.RestaurantPath(s.restaurant)+"/orders", order, "Idempotency-Key", key)
		if refused, _ = errors.AsType[*client.Error](err); refused == nil || refused.Status != http.StatusTooManyRequests {
			break
		}
		check(sleep.For(ctx, refused.RetryAfter))
	}
	ok := err == nil && answer.Status == want || refused != nil && refused.Status == want
	expect(ok, "the order did not get the status %d: %w", want, err)
	return answer, refused
}

// receivedOrder is an order in the sandbox.
type receivedOrder struct {
	OrderID string
	Total   decimal.Decimal
}

// atService returns the orders of the ordering service, the oldest first. Their number must be want.
func (s *scenario) atService(ctx context.Context, want int) []receivedOrder {
	received := must(client.Get[[]receivedOrder](ctx, s.sandbox, "/sandbox/orders"))
	expect(len(received) == want, "the ordering service has %d orders, want %d", len(received), want)
	return received
}

// orders checks that an invalid order is not sent, and that a valid one, which it returns, is sent once.
func (s *scenario) orders(ctx context.Context) (placed cli.OrderRecord) {
	s.step("invalid order")
	_, refused := s.place(ctx, s.bad, "demo-refused", http.StatusUnprocessableEntity)
	s.atService(ctx, 0)
	s.say("%d %s, %s, nothing is sent:", refused.Status, refused.Code, cli.Plural(len(refused.Errors), "violation", "violations"))
	for _, v := range refused.Errors {
		s.say("%s %s: %s", v.Path, v.Code, v.Msg)
	}

	s.step("order placed")
	const key = "demo-placed"
	answer, _ := s.place(ctx, s.good, key, http.StatusCreated)
	check(answer.Result(&placed))
	order := s.atService(ctx, 1)[0]
	total := must(decimal.NewFromString(cli.Number(placed.Total)))
	expect(order.OrderID == placed.OrderID && total.Equal(order.Total),
		"larder has the order %s, total %s; the ordering service %s, total %s", placed.OrderID, total, order.OrderID, order.Total)
	s.say("orderID %s, total %s, ref %s", placed.OrderID, cli.Number(placed.Total), placed.Ref)

	s.step("order repeated")
	again, _ := s.place(ctx, s.good, key, http.StatusCreated)
	expect(bytes.Equal(again.Body, answer.Body), "the same key got another response: %s", again.Body)
	_, reused := s.place(ctx, s.bad, key, http.StatusUnprocessableEntity)
	s.atService(ctx, 1)
	s.say("same key, same order: %d with the same body, replayed", again.Status)
	s.say("same key, another order: %d %s", reused.Status, reused.Code)
	return placed
}

// unknown checks that an order whose response is lost is not sent again, and that its key
// returns the order after an operator has resolved it.
func (s *scenario) unknown(ctx context.Context) {
	s.step("response lost")
	const key, fault = "demo-lost-answer", `[{"match":{"method":"POST","path":"/orders/api/v1/orders"},"times":1,"do":"execute_then_reset"}]`
	must(s.sandbox.Call(ctx, http.MethodPut, "/sandbox/faults", []byte(fault)))
	_, lost := s.place(ctx, s.good, key, http.StatusGatewayTimeout)
	_, again := s.place(ctx, s.good, key, http.StatusGatewayTimeout)
	expect(lost.Ref != "" && again.Ref == lost.Ref, "the same key got the refs %q and %q", lost.Ref, again.Ref)
	found := s.atService(ctx, 2)[1].OrderID
	s.say("the ordering service accepts the order, but its response is lost: 504 order_outcome_unknown")
	s.say("same key again: 504 again, and nothing is sent; ref %s", lost.Ref)

	s.step("resolved")
	body := fmt.Appendf(nil, `{"operation":"create","outcome":"done","orderID":%q,"note":"the kitchen has it"}`, found)
	must(s.ops.Call(ctx, http.MethodPost, "/v1/ops/orders/"+url.PathEscape(lost.Ref)+"/resolve", body))
	answer, _ := s.place(ctx, s.good, key, http.StatusCreated)
	var now cli.OrderRecord
	check(answer.Result(&now))
	expect(now.OrderID == found && now.Ref == lost.Ref, "the call was resolved as order %s, but its key returns %s", found, answer.Body)
	s.atService(ctx, 2)
	s.say("an operator asks the restaurant, which has order %s, and resolves the call as done", found)
	s.say("same key again: %d, orderID %s", answer.Status, now.OrderID)
}

// closed pays and completes an order.
func (s *scenario) closed(ctx context.Context, placed cli.OrderRecord) {
	s.step("paid and closed")
	path, paid := "/v1/orders/"+url.PathEscape(placed.OrderID), cli.Number(placed.Total)
	payment := fmt.Appendf(nil, `[{"code":"2c1f8c2e-6f0b-4f7c-9d55-0a4b5d6c7e8f","amount":%s,"paidAt":%q,"name":""}]`,
		paid, time.Now().Format(time.RFC3339))
	must(s.daemon.Call(ctx, http.MethodPut, path+"/pay", payment))
	must(s.daemon.Call(ctx, http.MethodPut, path+"/complete", nil))
	order := must(client.Get[cli.OrderRecord](ctx, s.daemon, path))
	expect(order.State == "closed" && order.Paid, "after payment and completion the order is %s", order.StateText())
	s.say("order %s paid %s and completed: %s", order.OrderID, paid, order.StateText())
}

package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"larder/internal/menu"
	"larder/internal/sleep"
	menusync "larder/sync"
)

// Every step asks over HTTP and checks what it got: what it prints is true.

// token: larder has one of the ordering service, the storefront one of larder.
func (k *walk) token(ctx context.Context) ([]string, error) {
	counters, err := resultOf[struct {
		Tokens int `json:"tokens"`
	}](ctx, k.kitchen, "/sandbox/counters")
	if err != nil {
		return nil, err
	}
	if counters.Tokens < 1 {
		return nil, errors.New("the ordering service has issued no token")
	}
	if _, err := k.daemon.get(ctx, "/v1/restaurants?limit=1"); err != nil {
		return nil, err
	}
	return []string{
		"the ordering service gave larder " + plural(counters.Tokens, "token", "tokens") + " for all its calls",
		"larder gave the client " + k.client + " one for its own",
	}, nil
}

// pulled: the first run of the restaurant. A menu is served a moment before
// its run is recorded as finished.
func (k *walk) pulled(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, stopGrace, errors.New("no run has published a menu"))
	defer cancel()
	first, ok, err := k.firstUpdate(ctx)
	for err == nil && !ok {
		if err = sleep.For(ctx, 10*time.Millisecond); err == nil {
			first, ok, err = k.firstUpdate(ctx)
		}
	}
	if err != nil {
		return nil, err
	}
	if err := k.readMenu(ctx); err != nil {
		return nil, err
	}
	s := first.Steps
	return []string{
		fmt.Sprintf("%s, %s, %d bytes", plural(first.Products, "dish", "dishes"), plural(k.groups, "modifier group", "modifier groups"), first.Bytes),
		fmt.Sprintf("fetch %.1f ms, decode %.1f, lint %.1f, compile %.1f, publish %.1f", s.Fetch, s.Decode, s.Lint, s.Compile, s.Publish),
	}, nil
}

// firstUpdate is the restaurant's first run that published a menu; not ok when
// there is none yet.
func (k *walk) firstUpdate(ctx context.Context) (run menusync.Run, ok bool, err error) {
	runs, err := resultOf[[]menusync.Run](ctx, k.ops, "/v1/ops/runs?limit=50&restaurant="+url.QueryEscape(k.restaurant))
	if err != nil {
		return run, false, err
	}
	for _, run = range slices.Backward(runs) { // the latest comes first
		if run.Outcome == menusync.OutcomeUpdated {
			return run, true, nil
		}
	}
	return menusync.Run{}, false, nil
}

func (k *walk) menuPath() string { return "/v1/restaurants/" + url.PathEscape(k.restaurant) + "/menu" }

func (k *walk) readMenu(ctx context.Context) (err error) {
	if k.menu, err = resultOf[*storefront](ctx, k.daemon, k.menuPath()); err != nil {
		return err
	}
	distinct := map[string]bool{}
	for _, scheme := range k.menu.Schemes {
		for _, g := range scheme.Groups {
			distinct[g.ID] = true
		}
	}
	k.groups = len(distinct)
	return nil
}

// lint: what larder found wrong with the menu as published.
func (k *walk) lint(ctx context.Context) ([]string, error) {
	findings, err := resultOf[[]menu.Finding](ctx, k.ops, opsPath(k.restaurant)+"/lint")
	if err != nil {
		return nil, err
	}
	lines := []string{plural(len(findings), "finding", "findings")}
	const shown = 3
	for i, f := range findings {
		if i == shown {
			lines = append(lines, fmt.Sprintf("… and %d more", len(findings)-shown))
			break
		}
		lines = append(lines, fmt.Sprintf("%s %s: %s", f.Severity, f.Code, f.Msg))
	}
	return lines, nil
}

// published: every restaurant has a version.
func (k *walk) published(ctx context.Context) ([]string, error) {
	all, err := restaurants(ctx, k.daemon)
	if err != nil {
		return nil, err
	}
	if len(all) != k.total {
		return nil, fmt.Errorf("larder lists %d restaurants, not %d", len(all), k.total)
	}
	lines := []string{fmt.Sprintf("%s: version %d", k.menu.Restaurant.Name, k.menu.Version)}
	switch others := k.total - 1; others {
	case 0:
	case 1:
		lines = append(lines, "and the other restaurant has its own")
	default:
		lines = append(lines, fmt.Sprintf("and all of the other %d restaurants have theirs", others))
	}
	return lines, nil
}

// served: the same menu in each encoding, and not again when it is unchanged.
func (k *walk) served(ctx context.Context) ([]string, error) {
	plain, err := k.daemon.get(ctx, k.menuPath(), "Accept-Encoding", "identity")
	if err != nil {
		return nil, err
	}
	packed, err := k.daemon.get(ctx, k.menuPath(), "Accept-Encoding", "gzip")
	if err != nil {
		return nil, err
	}
	if encoding := packed.header.Get("Content-Encoding"); encoding != "gzip" {
		return nil, fmt.Errorf("asked for gzip, got %q", encoding)
	}
	unpacked, err := gunzip(packed.body)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(unpacked, plain.body) {
		return nil, errors.New("the packed menu is not the plain one")
	}
	etag := plain.header.Get("ETag")
	again, err := k.daemon.get(ctx, k.menuPath(), "If-None-Match", etag)
	if err != nil {
		return nil, err
	}
	if again.status != http.StatusNotModified || len(again.body) > 0 {
		return nil, fmt.Errorf("asked again with its ETag, got status %d and %d bytes", again.status, len(again.body))
	}
	return []string{
		fmt.Sprintf("identity %d bytes, gzip %d bytes (the same menu)", len(plain.body), len(packed.body)),
		fmt.Sprintf("asked again with ETag %s: 304, 0 bytes", etag),
	}, nil
}

func gunzip(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	return io.ReadAll(r)
}

func (k *walk) ordersPath() string {
	return "/v1/restaurants/" + url.PathEscape(k.restaurant) + "/orders"
}

// refused: an order with mistakes is turned away, all of them named, and the
// ordering service hears nothing of it.
func (k *walk) refused(ctx context.Context) ([]string, error) {
	_, err := k.order(ctx, k.bad, "demo-refused")
	var refused *apiError
	if !errors.As(err, &refused) || refused.Status != http.StatusUnprocessableEntity || len(refused.Errors) == 0 {
		return nil, fmt.Errorf("an order with mistakes should be answered 422 with violations, got: %w", err)
	}
	received, err := k.receivedOrders(ctx)
	if err != nil {
		return nil, err
	}
	if len(received) > 0 {
		return nil, errors.New("the refused order reached the ordering service")
	}
	lines := []string{fmt.Sprintf("%d %s, %s:", refused.Status, refused.Code, plural(len(refused.Errors), "violation", "violations"))}
	for _, v := range refused.Errors {
		lines = append(lines, fmt.Sprintf("%s %s: %s", v.Path, v.Code, v.Msg))
	}
	return lines, nil
}

// place: a good k.bad, priced by larder, taken by the ordering service.
func (k *walk) place(ctx context.Context) ([]string, error) {
	answer, err := k.order(ctx, k.good, keyPlaced)
	if err != nil {
		return nil, err
	}
	if err := answer.result(&k.placed); err != nil {
		return nil, err
	}
	k.answered = answer.body
	if k.placed.OrderID == "" || answer.status != http.StatusCreated {
		return nil, fmt.Errorf("status %d without an orderID: %s", answer.status, answer.body)
	}
	return []string{fmt.Sprintf("orderID %s, total %s, ref %s", k.placed.OrderID, number(k.placed.Total), k.placed.Ref)}, nil
}

// receivedOrder is an order as the sandbox keeps it.
type receivedOrder struct {
	OrderID string          `json:"orderID"`
	State   string          `json:"state"`
	Raw     string          `json:"raw"`
	Total   decimal.Decimal `json:"total"`
	Body    struct {
		DishList []json.RawMessage `json:"dishList"`
	} `json:"body"`
}

func (k *walk) receivedOrders(ctx context.Context) ([]receivedOrder, error) {
	return resultOf[[]receivedOrder](ctx, k.kitchen, "/sandbox/orders")
}

// received: the ordering service has that order, once, at the same price.
func (k *walk) received(ctx context.Context) ([]string, error) {
	received, err := k.receivedOrders(ctx)
	if err != nil {
		return nil, err
	}
	if len(received) != 1 || received[0].OrderID != k.placed.OrderID {
		return nil, fmt.Errorf("it has %d orders, not the one that was placed", len(received))
	}
	order := received[0]
	total, err := decimal.NewFromString(number(k.placed.Total))
	if err != nil || !total.Equal(order.Total) {
		return nil, fmt.Errorf("it computes a total of %s, larder %s", order.Total, number(k.placed.Total))
	}
	return []string{
		fmt.Sprintf("received order %s (%s), %s, total %s:", order.OrderID, order.State, plural(len(order.Body.DishList), "dish", "dishes"), order.Total),
		strings.TrimSpace(order.Raw),
	}, nil
}

package httpapi

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/sirupsen/logrus"

	"larder/cache"
	"larder/internal/menu"
	"larder/ordering"
	menusync "larder/sync"
)

const (
	headerKey = "Idempotency-Key"
	maxKey    = 255
	// minPublicKey is the shortest key that can hold 128 random bits, in
	// base64. A guest's key is all that protects the order's state (policy H3).
	minPublicKey = 22

	orderLanguage = "en"

	retryVolatile = time.Minute // what only the operator can change
	retryJournal  = 5 * time.Second
)

// validateOrder answers POST …/orders/validate: what is wrong with the order
// and what it costs. It places nothing.
func (s *Server) validateOrder(c *gin.Context) {
	restaurant, err := s.restaurant(c)
	if err != nil {
		fail(c, err)
		return
	}
	body, err := jsonBody(c)
	if err != nil {
		fail(c, err)
		return
	}
	snapshot, err := s.replica.Catalogue(c.Request.Context(), restaurant.ID)
	if err != nil {
		fail(c, err)
		return
	}
	verdict, err := s.validator.Validate(s.orderRequest(restaurant, snapshot, body))
	if err != nil {
		fail(c, err)
		return
	}
	text, err := verdict.AppendJSON(append(make([]byte, 0, 1024+len(verdict.Order)), `{"result":`...))
	if err != nil {
		fail(c, err)
		return
	}
	header := c.Writer.Header()
	header.Set("Cache-Control", "no-store")
	header[headerVersion] = []string{strconv.FormatInt(snapshot.Version.Version, 10)}
	write(c, http.StatusOK, contentJSON, append(text, '}'))
}

// placeOrder answers POST …/orders.
func (s *Server) placeOrder(c *gin.Context) {
	restaurant, err := s.restaurant(c)
	if err != nil {
		fail(c, err)
		return
	}
	who, _ := callerOf(c)
	key, err := idempotencyKey(c.Request.Header, who)
	if err != nil {
		fail(c, err)
		return
	}
	body, err := jsonBody(c)
	if err != nil {
		fail(c, err)
		return
	}
	if err := s.recordable(c.Request.Context()); err != nil {
		fail(c, err)
		return
	}
	snapshot, err := s.replica.Catalogue(c.Request.Context(), restaurant.ID)
	if err != nil {
		fail(c, err)
		return
	}
	request := s.orderRequest(restaurant, snapshot, body)
	if who.Client == publicClient {
		if err := s.checkPublicOrder(body); err != nil {
			fail(c, err)
			return
		}
	}
	// The guest's disconnect does not cancel a write that has begun: Placer
	// sees to that (policy O8).
	placed, err := s.placer.Place(c.Request.Context(), ordering.PlaceRequest{
		Request: request, Connection: restaurant.Connection, Client: who.Client, Key: key,
	})
	s.placedOrder(c, restaurant, who, snapshot, placed, err)
}

// recordable refuses an order, before anything is sent, when Redis could not
// keep what became of it: it does not answer, or forgets (policy O14).
func (s *Server) recordable(ctx context.Context) error {
	if s.redis.Embedded() && !s.volatile {
		return &problem{
			code: CodeJournalUnavailable, retryAfter: retryVolatile,
			msg: "orders are not placed while Redis is embedded and would forget them; see ordering.allow_volatile",
		}
	}
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	if err := s.redis.Ping(ctx); err != nil {
		return &problem{
			code: CodeJournalUnavailable, retryAfter: retryJournal, err: err,
			msg: "orders are not placed while Redis does not answer; nothing was sent, try again",
		}
	}
	return nil
}

// placedOrder counts, logs and answers what came of an order.
func (s *Server) placedOrder(c *gin.Context, restaurant menusync.Restaurant, who caller, snapshot *cache.Snapshot, placed ordering.Placed, err error) {
	outcome, ref := orderOutcome(placed, err)
	s.metrics.order(outcome)
	entry := s.log.WithFields(logrus.Fields{
		"event": "order." + outcome, "requestId": idOf(c), "ref": ref, "orderID": placed.OrderID,
		"restaurant": restaurant.ID, "connection": restaurant.Connection, "client": who.Client,
		"menuVersion": snapshot.Version.Version,
	})
	if err != nil {
		if p := asProblem(err); p.violations != nil {
			entry = entry.WithField("violations", len(p.violations))
		} else {
			entry = entry.WithError(err)
		}
		entry.Warn("order not placed")
		fail(c, err)
		return
	}
	entry.Info("order placed")
	header := c.Writer.Header()
	header.Set("Cache-Control", "no-store")
	text := append(make([]byte, 0, 256), `{"result":{"ref":`...)
	text = menu.AppendString(text, placed.Ref)
	text = menu.AppendString(append(text, `,"orderID":`...), placed.OrderID)
	text = menu.AppendDecimal(append(text, `,"total":`...), placed.Total)
	text = menu.AppendString(append(text, `,"state":`...), placed.State)
	write(c, http.StatusCreated, contentJSON, append(text, '}', '}'))
}

// orderRequest is an order on its way to the rules.
func (s *Server) orderRequest(restaurant menusync.Restaurant, snapshot *cache.Snapshot, body []byte) ordering.Request {
	return ordering.Request{
		Restaurant: restaurant.ID, Native: true, Version: snapshot.Version.Version, Catalogue: snapshot.Catalogue,
		Body: body, Language: orderLanguage, WireCase: s.connection(restaurant.Connection).WireCase,
	}
}

// orderOutcome names what came of an order, for the log and the metric.
func orderOutcome(placed ordering.Placed, err error) (outcome, ref string) {
	var (
		invalid   *ordering.InvalidError
		syntax    *menu.SyntaxError
		refused   *ordering.RefusedError
		notSent   *ordering.NotSentError
		uncertain *ordering.UnknownError
	)
	switch {
	case err == nil:
		return "placed", placed.Ref
	case errors.As(err, &invalid), errors.As(err, &syntax):
		return "invalid", ""
	case errors.As(err, &refused):
		return "refused", refused.Ref
	case errors.As(err, &notSent):
		return "not_sent", notSent.Ref
	case errors.As(err, &uncertain):
		return "unknown", uncertain.Ref
	case errors.Is(err, context.Canceled):
		return "cancelled", ""
	default:
		return "failed", ""
	}
}

// idempotencyKey reads the key of a placing request: 1 to 255 printable
// characters, bare or quoted (policy O7).
func idempotencyKey(header http.Header, who caller) (string, error) {
	sent := header.Values(headerKey)
	refused := func(msg string) (string, error) {
		return "", &problem{code: CodeIdempotencyKeyRequired, msg: msg}
	}
	if len(sent) == 0 {
		return refused("send an Idempotency-Key: a new random one for each order")
	}
	if len(sent) > 1 {
		return refused("send one Idempotency-Key, not several")
	}
	key := strings.TrimSpace(sent[0])
	if len(key) >= 2 && key[0] == '"' && key[len(key)-1] == '"' {
		key = key[1 : len(key)-1]
	}
	if key == "" || len(key) > maxKey || !printable(key) {
		return refused("the Idempotency-Key has 1 to 255 printable ASCII characters")
	}
	if who.Client == publicClient && len(key) < minPublicKey {
		return refused("the Idempotency-Key of an order without a token has at least 128 random bits: 22 characters or more")
	}
	return key, nil
}

func printable(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// checkPublicOrder holds an order without a token to the payment types that
// the configuration leaves to guests (policy H3).
func (s *Server) checkPublicOrder(body []byte) error {
	text, err := menu.Check(body, maxDepth)
	if err != nil {
		return err
	}
	allowed := s.authCfg.PublicOrders.PaymentTypes
	var violation *ordering.Violation
	reader := menu.NewReader(text)
	reader.Object(func(name string) {
		if menu.FoldName(name) != "paymenttypeid" {
			reader.Skip()
			return
		}
		kind, ok := reader.Text()
		if ok && !slices.Contains(allowed, kind) {
			violation = &ordering.Violation{
				Path: "/" + name, Code: ordering.ValueNotAllowed, Params: map[string]any{"allowed": allowed},
				Msg: "without a token only these payment types are taken: " + strings.Join(allowed, ", "),
			}
		}
	})
	if violation == nil {
		return nil
	}
	return &problem{
		code: CodeValidationFailed, msg: "the order breaks rules of the door; see errors",
		violations: []ordering.Violation{*violation},
	}
}

package httpapi

import (
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"larder/internal/upstream"
	"larder/ordering"
)

// validateOrder answers POST …/orders/validate: what is wrong with the order
// and what it costs. It places nothing.
func (s *Server) validateOrder(c *gin.Context) {
	restaurant, err := s.restaurant(c)
	if err != nil {
		fail(c, err)
		return
	}
	room := s.sheets.take()
	defer s.sheets.giveBack(room)
	if room.asked, err = jsonBodyIn(c, room.asked); err != nil {
		fail(c, err)
		return
	}
	s.chargeOrder(c, s.validateLimit, room.asked)
	snapshot, err := s.replica.Catalogue(c.Request.Context(), restaurant.ID)
	if err != nil {
		fail(c, err)
		return
	}
	spoken := language(c)
	text, err := s.validator.AppendVerdict(append(room.answer[:0], `{"result":`...), ordering.Request{
		Restaurant: restaurant.ID, Native: true, Version: snapshot.Version.Version, Catalogue: snapshot.Catalogue,
		Body: room.asked, Language: spoken, FieldCase: s.connection(restaurant.Connection).FieldCase,
	})
	if err != nil {
		fail(c, err)
		return
	}
	room.answer = append(text, '}')
	header := headerFields(c.Writer.Header())
	header.text("Cache-Control", "no-store")
	header.text("Content-Language", spoken)
	header.text(headerVersion, strconv.FormatInt(snapshot.Version.Version, 10))
	write(c, http.StatusOK, contentJSON, room.answer)
}

// placeOrder answers POST …/orders.
func (s *Server) placeOrder(c *gin.Context) {
	restaurant, err := s.restaurant(c)
	if err != nil {
		fail(c, err)
		return
	}
	key, err := idempotencyKey(c, !s.keyless)
	if err != nil {
		fail(c, err)
		return
	}
	body, err := jsonBody(c)
	if err != nil {
		fail(c, err)
		return
	}
	if isGuest(c) {
		s.chargeOrder(c, s.publicLimit, body)
		if err := s.checkPublicOrder(body, language(c)); err != nil {
			failInLanguage(c, err)
			return
		}
	}
	who, _ := callerOf(c)
	requester := who.Client
	if isGuest(c) { // guests share one client: each address has its own turn (policy O8a)
		requester = publicClient + " " + addressKey(s.clientIP(c))
	}
	// The client's disconnect does not cancel a write that has begun: Orders
	// sees to that (policy O8).
	placed, err := s.orders.Place(c.Request.Context(), ordering.Placing{
		Restaurant: restaurant.ID, Native: true, Connection: restaurant.Connection, Client: who.Client, Requester: requester, Key: key,
		RequestID: idOf(c), Body: body, Language: language(c), FieldCase: s.connection(restaurant.Connection).FieldCase,
	})
	s.answerOrder(c, orderCall{operation: upstream.OpCreate, connection: restaurant.Connection, restaurant: restaurant.ID}, placed, err)
}

package apitest

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// Service is an ordering service in memory. Tests set its responses.
type Service struct {
	Mu      sync.Mutex
	Menus   map[string]string
	reasons []upstream.Reason
	create  func(body []byte) (upstream.Answer, error)
	sent    [][]byte
	Hold    chan struct{} // menu views wait until it is closed

	busy     bool     // no call gets a slot
	reserved []string // the clients that requested a slot
}

// AskTokenAgain implements sync.Source.
func (*Service) AskTokenAgain() time.Duration { return 0 }

// MenuView implements sync.Source.
func (s *Service) MenuView(ctx context.Context, restaurant string, _ upstream.Validator, _ int64) (upstream.Menu, error) {
	s.Mu.Lock()
	raw, known, hold := s.Menus[restaurant], s.Menus[restaurant] != "", s.Hold
	s.Mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return upstream.Menu{}, ctx.Err()
		}
	}
	if !known {
		return upstream.Menu{}, &upstream.Error{Operation: "menu", Status: http.StatusBadGateway, Err: errors.New("no menu")}
	}
	return upstream.Menu{Body: []byte(raw)}, nil
}

// DoubtResponses implements ordering.Service.
func (*Service) DoubtResponses() {}

// RejectionReasons implements sync.Source.
func (s *Service) RejectionReasons(context.Context) ([]upstream.Reason, error) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.reasons, nil
}

// Reserve implements ordering.Service.
func (s *Service) Reserve(ctx context.Context, op ordering.Operation, client string, _ time.Time) (*upstream.Slot, error) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.reserved = append(s.reserved, client)
	if s.busy {
		return nil, &upstream.Error{Operation: op, Err: upstream.ErrBusy, RetryAfter: 5400 * time.Millisecond}
	}
	return new(upstream.Slot), ctx.Err()
}

// Free implements ordering.Service.
func (s *Service) Free(context.Context) bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return !s.busy
}

// SetBusy removes or restores the capacity of the ordering service.
func (s *Service) SetBusy(busy bool) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.busy = busy
}

// Requesters returns the clients that requested a slot.
func (s *Service) Requesters() []string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return slices.Clone(s.reserved)
}

// Write implements ordering.Service.
func (s *Service) Write(_ context.Context, r upstream.WriteRequest) (upstream.Answer, error) {
	if r.Operation != upstream.OpCreate {
		return upstream.Answer{Status: http.StatusOK}, nil
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.sent = append(s.sent, r.Body)
	if s.create != nil {
		return s.create(r.Body)
	}
	return upstream.Answer{OrderID: strconv.Itoa(764 + len(s.sent)), Status: http.StatusCreated}, nil
}

// SetMenu sets the menu view of a restaurant.
func (s *Service) SetMenu(restaurant, raw string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.Menus[restaurant] = raw
}

// AnswerCreate sets the response to new orders.
func (s *Service) AnswerCreate(answer func(body []byte) (upstream.Answer, error)) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.create = answer
}

// Received returns the bodies of the orders that arrived.
func (s *Service) Received() [][]byte {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return append([][]byte(nil), s.sent...)
}

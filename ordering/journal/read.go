package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
	"github.com/sirupsen/logrus"

	"larder.local/cache"
	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// The fields of the hash with the guest data of a call. It expires before the record.
const (
	fieldBody   = "body"   // the request body
	fieldAnswer = "answer" // the whole ordering.Answer
)

// store reads orders by key, orderID and ref, and in lists, and commits transactions.
type store struct {
	cfg     *ordering.Config
	history *history // each commit compares it
	prefix  string   // of the keys
	keys    cache.Keys
	sources *upstream.Sources
	// onlyReads: see OnlyRead.
	onlyReads bool
	// read retries failed commands. write does not: a command may have run before its reply was lost.
	read, write redis.UniversalClient
	log         logrus.FieldLogger
	queues      sync.Map                 // connection to *queues
	secrets     sync.Map                 // connection to readSecret
	scanned     atomic.Pointer[[]string] // see scan
}

// readOrder reads one order. It returns ordering.ErrNoOrder if the order does not exist.
func (s *store) readOrder(ctx context.Context, client redis.UniversalClient, at location) (*order, error) {
	found, faults, err := s.readAll(ctx, client, []location{at})
	if err != nil {
		return nil, err
	}
	if found[0] == nil {
		return nil, cmp.Or(faults[0], s.checkFormat(ctx, at.connection), ordering.ErrNoOrder)
	}
	return found[0], nil
}

// readAll reads several orders in one pipeline. An order that does not exist is nil; an unreadable
// one has an error at its index. Nearly always the answer of the first call is the only one: others
// need a second pipeline. It may read an answer that is newer than its record (see readAnswer).
func (s *store) readAll(ctx context.Context, client redis.UniversalClient, places []location) ([]*order, []error, error) {
	pipe := client.Pipeline()
	texts, first := make([]*redis.StringCmd, len(places)), make([]*redis.StringCmd, len(places))
	for i, at := range places {
		texts[i] = pipe.Get(ctx, s.keys.Order(at.connection, at.ref))
		first[i] = s.readWhole(ctx, pipe, at, 1)
	}
	_, _ = pipe.Exec(ctx) // each reply has its own error
	found, faults := make([]*order, len(places)), make([]error, len(places))
	pipe = client.Pipeline()
	var answers []answerRead
	for i, at := range places {
		text, err := texts[i].Result()
		switch {
		case errors.Is(err, redis.Nil):
			continue
		case redis.HasErrorPrefix(err, "WRONGTYPE"):
			faults[i] = fmt.Errorf("order %q: %w: not a string", at.ref, errCorrupt)
			continue
		case err != nil:
			return nil, nil, err
		}
		if found[i], faults[i] = decode(at, text); faults[i] != nil {
			continue
		}
		record := &found[i].Record
		record.Foreign = !s.sources.Same(record.Connection, record.Source)
		for n := range record.Calls {
			call, reply := &record.Calls[n], first[i]
			if call.Answer == nil {
				continue
			}
			if call.Number != 1 {
				reply = s.readWhole(ctx, pipe, at, call.Number)
			}
			answers = append(answers, answerRead{i, call, reply})
		}
	}
	_, _ = pipe.Exec(ctx) // which does nothing without commands
	if err := readAnswers(answers, found, faults); err != nil {
		return nil, nil, err
	}
	for i, at := range places {
		if faults[i] != nil {
			found[i], faults[i] = nil, unreadable(at, faults[i])
		}
	}
	return found, faults, nil
}

// readAnswers sets the answers that were read. An unreadable one is a fault of its order.
func readAnswers(answers []answerRead, orders []*order, faults []error) error {
	for _, a := range answers {
		text, err := a.reply.Result()
		switch {
		case err == nil:
			err = orders[a.order].readAnswer(a.call, text)
		case errors.Is(err, redis.Nil):
			err = nil
		case redis.HasErrorPrefix(err, "WRONGTYPE"):
			err = fmt.Errorf("order %q: %w: answer of call %d is of another type", orders[a.order].Ref, errCorrupt, a.call.Number)
		default:
			return err
		}
		faults[a.order] = cmp.Or(faults[a.order], err)
	}
	return nil
}

// answerRead is a read of the whole answer of a call.
type answerRead struct {
	order int // its index
	call  *ordering.Call
	reply *redis.StringCmd
}

func (s *store) readWhole(ctx context.Context, pipe redis.Pipeliner, at location, call int) *redis.StringCmd {
	return pipe.HGet(ctx, s.keys.OrderGuest(at.connection, at.ref, call), fieldAnswer)
}

// Order returns the record of an orderID.
func (j *Journal) Order(ctx context.Context, connection, orderID string) (ordering.Record, error) {
	_, found, err := j.store.byOrderID(ctx, connection, orderID)
	if err = cmp.Or(err, j.store.checkFormat(ctx, connection)); err != nil || found == nil {
		return ordering.Record{}, failed("order", connection, cmp.Or(err, ordering.ErrNoOrder))
	}
	return found.Record, nil
}

// Record returns the record of a ref on any of the connections.
func (j *Journal) Record(ctx context.Context, connections []string, ref string) (ordering.Record, error) {
	places := make([]location, 0, len(connections))
	for _, connection := range connections {
		places = append(places, location{connection, ref})
	}
	found, faults, err := j.store.readAll(ctx, j.store.read, places)
	can, other, unknown := j.store.readable(ctx, connections)
	if err = cmp.Or(err, unknown); err != nil {
		return ordering.Record{}, failed("record", "", err)
	}
	for _, o := range found {
		if o != nil && slices.Contains(can, o.Connection) {
			return o.Record, nil
		}
	}
	return ordering.Record{}, failed("record", "", cmp.Or(other.ErrorOrNil(), errors.Join(faults...), ordering.ErrNoOrder))
}

// Body returns the body that a call sent.
func (j *Journal) Body(ctx context.Context, connection, ref string, call int) ([]byte, error) {
	body, err := j.store.sent(ctx, j.store.read, location{connection, ref}, call)
	return body, failed("body", connection, err)
}

// readText reads a string; it is empty if the key does not exist.
func (s *store) readText(ctx context.Context, key string) (string, error) {
	return s.write.GetRange(ctx, key, 0, -1).Result()
}

// byOrderID returns the order with the orderID, or nil, and the ref that the orderID refers to, which may have
// outlived its order. An order of the connection's service is preferred (policy O16); it may have another ref.
func (s *store) byOrderID(ctx context.Context, connection, orderID string) (ref string, found *order, err error) {
	ref, found, err = s.named(ctx, connection, s.keys.OrderID(connection, orderID))
	if err != nil || found != nil && !found.Foreign {
		return ref, found, err
	}
	for _, source := range s.sources.Names(connection) {
		_, own, err := s.named(ctx, connection, s.keys.OrderIDOf(connection, orderID, source))
		if err != nil || own != nil {
			return ref, own, err
		}
	}
	return ref, found, nil
}

// named returns the ref that the key of an orderID contains, and its order, or nil.
func (s *store) named(ctx context.Context, connection, key string) (ref string, found *order, err error) {
	ref, err = s.readText(ctx, key)
	if err != nil || ref == "" {
		return "", nil, err
	}
	found, err = s.readOrder(ctx, s.write, location{connection, ref})
	if errors.Is(err, ordering.ErrNoOrder) {
		return ref, nil, nil
	}
	return ref, found, err
}

// isAborted returns errAborted if the CallSpec was aborted.
func (s *store) isAborted(ctx context.Context, connection, opening string) error {
	aborted, err := s.readText(ctx, s.keys.OrderAborted(connection, opening))
	if aborted != "" {
		return errAborted
	}
	return err
}

// sent reads the body that a call sent.
func (s *store) sent(ctx context.Context, client redis.UniversalClient, at location, call int) ([]byte, error) {
	body, err := client.HGet(ctx, s.keys.OrderGuest(at.connection, at.ref, call), fieldBody).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, ordering.ErrNoBody
	}
	return body, err
}

// logCorrupt logs that an order cannot be read.
func (s *store) logCorrupt(at location, err error, msg string) {
	fields := logrus.Fields{"event": "journal.corrupt", "connection": at.connection, "ref": at.ref}
	s.log.WithFields(fields).WithError(err).Error(msg)
}

// mostPage is the maximum of Query.Limit.
const mostPage = 500

// cursorForm matches an order's member of the lists: its creation time and ref.
var cursorForm = regexp.MustCompile(`^[0-9]{15}/[0-9A-Za-z]{1,64}$`)

// listed is an order with its member of a list.
type listed struct {
	place  location
	member string
}

// List returns records, newest first, without expired ones. With a *ordering.FormatError it returns those that it can read.
func (j *Journal) List(ctx context.Context, q ordering.Query) (page []ordering.Record, next string, err error) {
	if q.Cursor != "" && !cursorForm.MatchString(q.Cursor) {
		return nil, "", ordering.ErrCursor
	}
	can, other, err := j.store.readable(ctx, q.Connections)
	if err != nil {
		return nil, "", failed("list", "", err)
	}
	q.Connections = can
	page, next, err = j.store.listReadable(ctx, q, other)
	return page, next, failed("list", "", cmp.Or(err, other.ErrorOrNil()))
}

func (s *store) listReadable(
	ctx context.Context, q ordering.Query, other *ordering.FormatError,
) (page []ordering.Record, next string, err error) {
	limit := min(max(q.Limit, 1), mostPage)
	var members []string
	for before := q.Cursor; ; {
		batch, err := s.listed(ctx, q, before, limit+1)
		if err != nil {
			return nil, "", err
		}
		places := make([]location, len(batch))
		for i := range batch {
			places[i] = batch[i].place
		}
		found, faults, err := s.readAll(ctx, s.read, places)
		if err != nil {
			return nil, "", err
		}
		for i, o := range found {
			switch {
			case faults[i] != nil:
				s.logCorrupt(places[i], faults[i], "an order in the list cannot be read")
				if len(other.Unreadable) < mostPage {
					other.Unreadable = append(other.Unreadable, ordering.Unreadable{Connection: places[i].connection, Ref: &places[i].ref})
				}
			case o != nil && matches(o, q.State):
				page, members = append(page, o.Record), append(members, batch[i].member)
			}
		}
		if len(page) > limit {
			return page[:limit:limit], members[limit-1], nil
		}
		if len(batch) <= limit {
			return page, "", nil
		}
		before = batch[len(batch)-1].member
	}
}

// Unknown counts the orders of a connection with an unknown outcome (policy O12). It is cheap.
func (j *Journal) Unknown(ctx context.Context, connection string) (int64, error) {
	count, err := j.store.read.ZCard(ctx, j.store.keys.OrdersIn(connection, string(ordering.StateUnknown))).Result()
	return count, failed("count", connection, cmp.Or(err, j.store.checkFormat(ctx, connection)))
}

// listed returns at most count members before a member, of all connections' lists, newest first.
func (s *store) listed(ctx context.Context, q ordering.Query, before string, count int) ([]listed, error) {
	within := &redis.ZRangeBy{Min: "-", Max: "+", Count: int64(count)}
	if before != "" {
		within.Max = "(" + before
	}
	pipe := s.read.Pipeline()
	replies := make([]*redis.StringSliceCmd, len(q.Connections))
	for i, connection := range q.Connections {
		switch q.State {
		case "":
			replies[i] = pipe.ZRevRangeByLex(ctx, s.keys.Orders(connection), within)
		case ordering.StatePlacing: // no list has only these orders; the number of open calls is small
			replies[i] = pipe.ZRange(ctx, s.keys.OrdersOpen(connection), 0, -1)
		default:
			replies[i] = pipe.ZRevRangeByLex(ctx, s.keys.OrdersIn(connection, string(q.State)), within)
		}
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, err
	}
	var all []listed
	for i, connection := range q.Connections {
		for _, member := range replies[i].Val() {
			member, _, _ = strings.Cut(member, " ") // the number of an open call
			_, ref, _ := strings.Cut(member, "/")
			if before == "" || member < before {
				all = append(all, listed{location{connection, ref}, member})
			}
		}
	}
	slices.SortFunc(all, func(a, b listed) int {
		return cmp.Or(cmp.Compare(b.member, a.member), cmp.Compare(b.place.connection, a.place.connection))
	})
	return all[:min(count, len(all))], nil
}

// matches reports whether an order still belongs to a list.
func matches(o *order, state ordering.State) bool {
	if state == ordering.StateUnknown {
		_, unknown := o.UnknownCall()
		return unknown
	}
	return state == "" || o.State == state
}

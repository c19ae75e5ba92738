package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/redis/go-redis/v9"
	"github.com/sirupsen/logrus"

	"larder/internal/menu"
	"larder/internal/redisdb"
)

// action is what a person or program has done to larder.
type action string

// The actions that are kept.
const (
	actionSync          action = "sync"
	actionForce         action = "force"
	actionSyncAll       action = "sync_all"
	actionForceAll      action = "force_all"
	actionRollback      action = "rollback"
	actionRelease       action = "release"
	actionResolve       action = "resolve"
	actionAcceptRestore action = "accept_restore"
	actionSignIn        action = "sign_in"
	actionSignOut       action = "sign_out"
)

// auditEntry is one thing that was done: an entry of /v1/ops/audit. What does not
// apply is null.
type auditEntry struct {
	ID         string  `json:"id"`
	At         string  `json:"at"`
	Client     string  `json:"client"`
	Via        string  `json:"via"` // token or session
	Action     action  `json:"action"`
	RequestID  string  `json:"requestId"`
	Connection *string `json:"connection"` // whose; null of what concerns all, or none
	// Restaurant is what the action was about: a restaurant or "@connection".
	Restaurant *menu.RestaurantID `json:"restaurant"`
	Run        *string            `json:"run"`
	Batch      *string            `json:"batch"`
	Ref        *string            `json:"ref"`     // of an order
	Version    *int64             `json:"version"` // that a rollback goes back to
	Detail     *string            `json:"detail"`  // the hold of a rollback, what was said of an order
}

const (
	auditKept  = 10_000          // entries
	auditLimit = 2 * time.Second // to write one
	auditField = "d"
	auditScan  = 5000 // entries that one page reads at most
	maxDetail  = 200  // bytes
)

// auditLog is who did what and when, in a stream of Redis that every larder shares.
type auditLog struct {
	redis redis.UniversalClient // sends each command once
	key   string
}

// add writes an entry, and with it drops the oldest beyond auditKept.
func (a *auditLog) add(ctx context.Context, d auditEntry) error {
	text, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("httpapi: audit: %w", err)
	}
	// Of what was done already: that the caller has left changes nothing.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditLimit)
	defer cancel()
	err = a.redis.XAdd(ctx, &redis.XAddArgs{Stream: a.key, MaxLen: auditKept, Values: []any{auditField, text}}).Err()
	if err != nil {
		return fmt.Errorf("httpapi: audit: %w: %w", redisdb.ErrUnavailable, err)
	}
	return nil
}

// from returns a part of the list, the newest entry first: the entry with the
// id ("+" is the newest), and at most maxPage that are older.
func (a *auditLog) from(ctx context.Context, id string) ([]redis.XMessage, error) {
	messages, err := a.redis.XRevRangeN(ctx, a.key, id, "-", maxPage+1).Result()
	if err != nil {
		return nil, fmt.Errorf("httpapi: audit: %w: %w", redisdb.ErrUnavailable, err)
	}
	return messages, nil
}

// newAuditEntry reads an entry of the stream; ok is false for one that larder
// cannot have written.
func newAuditEntry(message redis.XMessage) (d auditEntry, ok bool) {
	text, _ := message.Values[auditField].(string)
	ok = json.Unmarshal([]byte(text), &d) == nil
	d.ID = message.ID
	return d, ok
}

// isEntryID reports whether a text is the id of an entry: two numbers.
func isEntryID(id string) bool {
	at, within, found := strings.Cut(id, "-")
	number := func(text string) bool { return text != "" && len(text) <= 19 && strings.Trim(text, "0123456789") == "" }
	return found && number(at) && number(within)
}

// audit keeps what the caller has just done, and logs it. An entry that cannot
// be kept changes nothing of what was done: the log has it all the same.
func (s *Server) audit(c *gin.Context, d auditEntry) {
	who, _ := callerOf(c)
	d.At, d.Client, d.Via, d.RequestID = menu.FormatTime(s.clock()), who.Client, "token", idOf(c)
	if who.session {
		d.Via = "session"
	}
	switch {
	case d.Connection != nil:
	case d.Restaurant != nil:
		d.Connection = orNull(s.connectionFor(*d.Restaurant))
	default:
		d.Connection = orNull(who.Connection)
	}
	fields := logrus.Fields{"event": "ops." + string(d.Action), "client": d.Client, "via": d.Via, "requestId": d.RequestID}
	for name, value := range map[string]*string{"run": d.Run, "batch": d.Batch, "ref": d.Ref, "detail": d.Detail} {
		if value != nil {
			fields[name] = *value
		}
	}
	if d.Restaurant != nil {
		fields["restaurant"] = *d.Restaurant
	}
	if d.Version != nil {
		fields["version"] = *d.Version
	}
	if err := s.auditLog.add(c.Request.Context(), d); err != nil {
		s.log.WithFields(fields).WithError(err).Error("what was done could not be put into the audit list")
		return
	}
	s.log.WithFields(fields).Info("an operator's action")
}

// connectionFor returns whose a restaurant, or a connection's own menu, is.
func (s *Server) connectionFor(id menu.RestaurantID) string {
	if restaurant, known := s.runner.Known(id); known {
		return restaurant.Connection
	}
	name, _ := s.connectionOf(id)
	return name
}

// truncateDetail keeps an entry small.
func truncateDetail(text string) *string {
	if len(text) > maxDetail {
		text = strings.ToValidUTF8(text[:maxDetail], "")
	}
	return orNull(text)
}

// listAudit answers GET /v1/ops/audit: who did what and when, the newest first;
// ?action=, ?client= and ?restaurant= choose. A page of a filter that matches
// few may be short.
func (s *Server) listAudit(c *gin.Context) error {
	limit, last, err := pageOf(c)
	if err != nil {
		return err
	}
	if last != "" && !isEntryID(last) {
		return badCursor()
	}
	wanted, err := oneOf(c, "action", []action{
		actionSync, actionForce, actionSyncAll, actionForceAll, actionRollback, actionRelease, actionResolve,
		actionAcceptRestore, actionSignIn, actionSignOut,
	})
	if err != nil {
		return err
	}
	who, _ := callerOf(c)
	client, restaurant := c.Query("client"), c.Query("restaurant")
	chosen := func(d *auditEntry) bool {
		// A client of one connection sees the entries of that connection, and what it did itself.
		visible := who.Connection == "" || d.Connection != nil && *d.Connection == who.Connection || d.Client == who.Client
		return visible && (wanted == "" || d.Action == wanted) && (client == "" || d.Client == client) &&
			(restaurant == "" || d.Restaurant != nil && string(*d.Restaurant) == restaurant)
	}
	list := page[auditEntry]{Result: []auditEntry{}}
	for scanned := 0; scanned < auditScan; scanned += maxPage {
		messages, err := s.auditLog.from(c.Request.Context(), cmp.Or(last, "+"))
		if err != nil {
			return err
		}
		for _, message := range messages {
			if message.ID == last {
				continue
			}
			if d, ok := newAuditEntry(message); ok && chosen(&d) {
				if len(list.Result) == limit {
					list.Next = nextPage(last)
					return answer(c, http.StatusOK, list)
				}
				list.Result = append(list.Result, d)
			}
			last = message.ID
		}
		if len(messages) <= maxPage {
			return answer(c, http.StatusOK, list)
		}
	}
	list.Next = nextPage(last)
	return answer(c, http.StatusOK, list)
}

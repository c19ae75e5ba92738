package httpapi

import (
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

// The actions that are kept, in the order in which /v1/ops/audit explains them.
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

// actions returns every action.
func actions() []action {
	return []action{
		actionSync, actionForce, actionSyncAll, actionForceAll, actionRollback, actionRelease, actionResolve,
		actionAcceptRestore, actionSignIn, actionSignOut,
	}
}

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
	maxDetail  = 200 // bytes
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

// page returns at most count entries that are older than the one named, the
// newest first; "" begins at the newest.
func (a *auditLog) page(ctx context.Context, id string, count int) ([]auditEntry, error) {
	from := "+"
	if id != "" {
		from = id
	}
	messages, err := a.redis.XRevRangeN(ctx, a.key, from, "-", int64(count)+1).Result() // one more: the one named
	if err != nil {
		return nil, fmt.Errorf("httpapi: audit: %w: %w", redisdb.ErrUnavailable, err)
	}
	entries := make([]auditEntry, 0, len(messages))
	for _, message := range messages {
		text, _ := message.Values[auditField].(string)
		d := auditEntry{}
		if message.ID == id || json.Unmarshal([]byte(text), &d) != nil || len(entries) == count {
			continue
		}
		d.ID = message.ID
		entries = append(entries, d)
	}
	return entries, nil
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
	d.At, d.Client, d.Via, d.RequestID = formatTime(s.clock()), who.Client, "token", idOf(c)
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

// visibleTo reports whether a caller may know of an entry: of its connection's, and of
// what it did itself.
func (d *auditEntry) visibleTo(who caller) bool {
	return who.Connection == "" || d.Connection != nil && *d.Connection == who.Connection || d.Client == who.Client
}

// truncateDetail keeps an entry small.
func truncateDetail(text string) *string {
	if len(text) > maxDetail {
		text = strings.ToValidUTF8(text[:maxDetail], "")
	}
	return orNull(text)
}

// auditScan bounds the entries that one page with a filter reads.
const auditScan = 5000

// auditFilter chooses entries; what is empty chooses all.
type auditFilter struct {
	action     action
	client     string
	restaurant string
}

// matches reports whether an entry is chosen.
func (f auditFilter) matches(d auditEntry) bool {
	return (f.action == "" || d.Action == f.action) && (f.client == "" || d.Client == f.client) &&
		(f.restaurant == "" || d.Restaurant != nil && string(*d.Restaurant) == f.restaurant)
}

// listAudit answers GET /v1/ops/audit: who did what and when, the newest first;
// ?action=, ?client= and ?restaurant= choose. A page of a filter that matches
// few may be short.
func (s *Server) listAudit(c *gin.Context) error {
	limit, from, err := pageOf(c)
	if err != nil {
		return err
	}
	if from != "" && !isEntryID(from) {
		return badCursor()
	}
	filter := auditFilter{client: c.Query("client"), restaurant: c.Query("restaurant")}
	if filter.action, err = oneOf(c, "action", actions()); err != nil {
		return err
	}
	list := page[auditEntry]{Result: []auditEntry{}}
	who, _ := callerOf(c)
	last := from
	for scanned := 0; ; {
		part, err := s.auditLog.page(c.Request.Context(), from, maxPage)
		if err != nil {
			return err
		}
		for _, d := range part {
			if d.visibleTo(who) && filter.matches(d) {
				if len(list.Result) == limit {
					list.Next = nextPage(last)
					return answer(c, http.StatusOK, list)
				}
				list.Result = append(list.Result, d)
			}
			last = d.ID
		}
		if scanned += len(part); len(part) < maxPage {
			break
		}
		if scanned >= auditScan {
			list.Next = nextPage(last)
			break
		}
		from = last
	}
	return answer(c, http.StatusOK, list)
}

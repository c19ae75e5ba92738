// Package audit is the audit log: it records the actions of operators and programs. All instances
// share one list in Redis, which has a maximum length. GET /v1/ops/audit returns this list.
//
// Handlers add an entry after an action is done. If the entry cannot be stored, it is only written
// to the log; the action is not undone. The package does no authorization and stores no secrets.
package audit

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/redis/go-redis/v9"
	"github.com/sirupsen/logrus"

	"larder.local/cache"
	"larder.local/httpapi/auth"
	"larder.local/httpapi/respond"
	"larder.local/httpapi/visible"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
)

// Action is an action of an operator or program.
type Action string

// The actions in the audit log.
const (
	Sync          Action = "sync"
	Force         Action = "force"
	SyncAll       Action = "sync_all"
	ForceAll      Action = "force_all"
	Rollback      Action = "rollback"
	Release       Action = "release"
	Pause         Action = "pause"
	Open          Action = "open" // the end of a pause
	Busy          Action = "busy"
	BusyEnd       Action = "busy_end"
	Snooze        Action = "snooze"
	Wake          Action = "wake"
	Resolve       Action = "resolve"
	AcceptRestore Action = "accept_restore"
	SignIn        Action = "sign_in"
	SignOut       Action = "sign_out"
)

// Entry is an entry of /v1/ops/audit. Fields that do not apply are null.
type Entry struct {
	ID         string  `json:"id"`
	At         string  `json:"at"`
	Client     string  `json:"client"`
	Via        string  `json:"via"` // token or session
	Action     Action  `json:"action"`
	RequestID  string  `json:"requestId"`
	Connection *string `json:"connection"` // null if the action concerns all connections or none
	// Restaurant is the restaurant of the action, or "@connection".
	Restaurant *menu.RestaurantID `json:"restaurant"`
	Run        *string            `json:"run"`
	Batch      *string            `json:"batch"`
	Ref        *string            `json:"ref"`     // of the order
	Version    *int64             `json:"version"` // target of the rollback
	Detail     *string            `json:"detail"`  // the hold of a rollback, an order's resolution, or what is restricted
}

const (
	auditKept  = 10_000          // entries
	auditLimit = 2 * time.Second // for writing one entry
	auditField = "d"
	auditScan  = 5000 // entries that one page reads at most
	maxDetail  = 200  // bytes
)

// Log is the audit log: a stream in Redis that all instances share.
type Log struct {
	visible.Served

	redis redis.UniversalClient // sends each command once
	key   string
	log   logrus.FieldLogger
}

// New opens the audit log that all instances of this Redis share.
func New(db *redisdb.DB, served visible.Served, log logrus.FieldLogger) *Log {
	return &Log{served, db.NoRetry(), cache.NewKeys(db.Prefix()).OpsAudit(), log}
}

// write appends an entry, and removes the oldest entries above auditKept.
func (a *Log) write(ctx context.Context, d Entry) error {
	text, _ := json.Marshal(d) //nolint:errchkjson // texts and numbers cannot fail
	// The action is already done, so the entry is written even if the client has disconnected.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditLimit)
	defer cancel()
	err := a.redis.XAdd(ctx, &redis.XAddArgs{Stream: a.key, MaxLen: auditKept, Values: []any{auditField, text}}).Err()
	if err != nil {
		return fmt.Errorf("audit: %w: %w", redisdb.ErrUnavailable, err)
	}
	return nil
}

// entryID matches an entry's id: two numbers.
var entryID = regexp.MustCompile(`^[0-9]{1,19}-[0-9]{1,19}$`)

// Add logs an action of the caller and records it. The action is done already, so an error of
// Redis only adds a log line.
func (a *Log) Add(c *gin.Context, d Entry) {
	who := auth.CallerOf(c)
	d.At, d.Client, d.Via, d.RequestID = menu.FormatTime(a.Clock()), who.Client, "token", respond.RequestID(c)
	if who.BySession() {
		d.Via = "session"
	}
	switch {
	case d.Connection != nil:
	case d.Restaurant != nil:
		name, _ := a.Directory.ConnectionOf(*d.Restaurant) // "" if the id is not configured
		d.Connection = respond.OrNull(name)
	default:
		d.Connection = respond.OrNull(who.Connection)
	}
	fields := logrus.Fields{
		"event":     "ops." + string(d.Action),
		"client":    d.Client,
		"via":       d.Via,
		"requestId": d.RequestID,
	}
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
	if err := a.write(c.Request.Context(), d); err != nil {
		a.log.WithFields(fields).WithError(err).Error("could not write to the audit log")
		return
	}
	a.log.WithFields(fields).Info("operator action")
}

// Detail shortens a text to maxDetail bytes.
func Detail(text string) *string {
	if len(text) > maxDetail {
		text = strings.ToValidUTF8(text[:maxDetail], "")
	}
	return respond.OrNull(text)
}

// listedEntry is an entry with the current name of its restaurant. The name is null if the
// restaurant is not configured, or the caller may not see it.
type listedEntry struct {
	Entry
	RestaurantName *string `json:"restaurantName"`
}

// listed returns an entry for the list of a caller.
func (a *Log) listed(who auth.Caller, d Entry) listedEntry {
	if d.Restaurant != nil {
		if restaurant, err := visible.Find(a.Directory, who, string(*d.Restaurant)); err == nil {
			return listedEntry{d, visible.Name(a.Directory, a.Replica, restaurant.ID)}
		}
	}
	return listedEntry{Entry: d}
}

// idsOfPeriod returns the bounds of ?from= and ?to=: an entry's id begins with its time.
func idsOfPeriod(c *gin.Context) (oldest, newest string, err error) {
	from, to, err := respond.Period(c)
	oldest, newest = "-", "+"
	if !from.IsZero() {
		oldest = strconv.FormatInt(from.UnixMilli(), 10)
	}
	if !to.IsZero() {
		newest = strconv.FormatInt(to.UnixMilli()-1, 10)
	}
	return oldest, newest, err
}

// List answers GET /v1/ops/audit: the audit log, newest entries first, filtered by ?action=,
// ?client=, ?restaurant=, ?from= and ?to=. A page can be short if the filter matches few entries.
func (a *Log) List(c *gin.Context) error {
	limit, last, err := respond.PageOf(c)
	if last != "" && !entryID.MatchString(last) {
		err = respond.BadCursor()
	}
	wanted, unknown := respond.OneOf(c, "action", []Action{
		Sync, Force, SyncAll, ForceAll, Rollback, Release, Resolve,
		AcceptRestore, SignIn, SignOut,
	})
	oldest, newest, wrong := idsOfPeriod(c)
	if err = cmp.Or(err, unknown, wrong); err != nil {
		return err
	}
	who := auth.CallerOf(c)
	client, restaurant := c.Query("client"), c.Query("restaurant")
	chosen := func(d *Entry) bool {
		// A client of one connection sees the entries of that connection and its own entries.
		shown := who.Connection == "" || d.Connection != nil && *d.Connection == who.Connection || d.Client == who.Client
		return shown && (wanted == "" || d.Action == wanted) && (client == "" || d.Client == client) &&
			(restaurant == "" || d.Restaurant != nil && string(*d.Restaurant) == restaurant)
	}
	page := respond.Page[listedEntry]{Result: []listedEntry{}}
	for scanned := 0; scanned < auditScan; scanned += respond.MaxPage {
		// XREVRANGE returns the last entry of the page before again, then older ones.
		messages, err := a.redis.XRevRangeN(c.Request.Context(), a.key, cmp.Or(last, newest), oldest, respond.MaxPage+1).Result()
		if err != nil {
			return fmt.Errorf("audit: %w: %w", redisdb.ErrUnavailable, err)
		}
		for _, message := range messages {
			if message.ID == last {
				continue
			}
			var d Entry
			text, _ := message.Values[auditField].(string)
			if json.Unmarshal([]byte(text), &d) == nil && chosen(&d) {
				d.ID = message.ID
				if len(page.Result) == limit {
					page.Next = respond.NextPage(last)
					return respond.JSON(c, http.StatusOK, page)
				}
				page.Result = append(page.Result, a.listed(who, d))
			}
			last = message.ID
		}
		if len(messages) <= respond.MaxPage {
			return respond.JSON(c, http.StatusOK, page)
		}
	}
	page.Next = respond.NextPage(last)
	return respond.JSON(c, http.StatusOK, page)
}

package audit

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

	"larder/cache"
	"larder/httpapi/auth"
	"larder/httpapi/respond"
	"larder/internal/directory"
	"larder/internal/menu"
	"larder/internal/redisdb"
)

// Action is what a person or program has done to larder.
type Action string

// The actions that are kept.
const (
	Sync          Action = "sync"
	Force         Action = "force"
	SyncAll       Action = "sync_all"
	ForceAll      Action = "force_all"
	Rollback      Action = "rollback"
	Release       Action = "release"
	Resolve       Action = "resolve"
	AcceptRestore Action = "accept_restore"
	SignIn        Action = "sign_in"
	SignOut       Action = "sign_out"
)

// Entry is one thing that was done: an entry of /v1/ops/audit. What does not
// apply is null.
type Entry struct {
	ID         string  `json:"id"`
	At         string  `json:"at"`
	Client     string  `json:"client"`
	Via        string  `json:"via"` // token or session
	Action     Action  `json:"action"`
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

// Log is who did what and when, in a stream of Redis that every larder shares.
type Log struct {
	redis     redis.UniversalClient // sends each command once
	key       string
	directory *directory.Directory
	clock     func() time.Time
	log       logrus.FieldLogger
}

// New opens the list that all larders of this Redis share.
func New(db *redisdb.DB, known *directory.Directory, clock func() time.Time, log logrus.FieldLogger) *Log {
	return &Log{redis: db.NoRetry(), key: cache.NewKeys(db.Prefix()).OpsAudit(), directory: known, clock: clock, log: log}
}

// write writes an entry, and with it drops the oldest beyond auditKept.
func (a *Log) write(ctx context.Context, d Entry) error {
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

// isEntryID reports whether a text is the id of an entry: two numbers.
func isEntryID(id string) bool {
	at, within, found := strings.Cut(id, "-")
	number := func(text string) bool { return text != "" && len(text) <= 19 && strings.Trim(text, "0123456789") == "" }
	return found && number(at) && number(within)
}

// Add keeps what the caller has just done, and logs it. An entry that cannot
// be kept changes nothing of what was done: the log has it all the same.
func (a *Log) Add(c *gin.Context, d Entry) {
	who := auth.CallerOf(c)
	d.At, d.Client, d.Via, d.RequestID = menu.FormatTime(a.clock()), who.Client, "token", respond.RequestID(c)
	if who.BySession() {
		d.Via = "session"
	}
	switch {
	case d.Connection != nil:
	case d.Restaurant != nil:
		name, _ := a.directory.ConnectionOf(*d.Restaurant) // "" for an id that is not configured
		d.Connection = respond.OrNull(name)
	default:
		d.Connection = respond.OrNull(who.Connection)
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
	if err := a.write(c.Request.Context(), d); err != nil {
		a.log.WithFields(fields).WithError(err).Error("what was done could not be put into the audit list")
		return
	}
	a.log.WithFields(fields).Info("an operator's action")
}

// Detail keeps an entry small.
func Detail(text string) *string {
	if len(text) > maxDetail {
		text = strings.ToValidUTF8(text[:maxDetail], "")
	}
	return respond.OrNull(text)
}

// List answers GET /v1/ops/audit: who did what and when, the newest first;
// ?action=, ?client= and ?restaurant= choose. A page of a filter that matches
// few may be short.
func (a *Log) List(c *gin.Context) error {
	limit, last, err := respond.PageOf(c)
	if err != nil {
		return err
	}
	if last != "" && !isEntryID(last) {
		return respond.BadCursor()
	}
	wanted, err := respond.OneOf(c, "action", []Action{
		Sync, Force, SyncAll, ForceAll, Rollback, Release, Resolve,
		AcceptRestore, SignIn, SignOut,
	})
	if err != nil {
		return err
	}
	who := auth.CallerOf(c)
	client, restaurant := c.Query("client"), c.Query("restaurant")
	chosen := func(d *Entry) bool {
		// A client of one connection sees the entries of that connection, and what it did itself.
		visible := who.Connection == "" || d.Connection != nil && *d.Connection == who.Connection || d.Client == who.Client
		return visible && (wanted == "" || d.Action == wanted) && (client == "" || d.Client == client) &&
			(restaurant == "" || d.Restaurant != nil && string(*d.Restaurant) == restaurant)
	}
	page := respond.Page[Entry]{Result: []Entry{}}
	for scanned := 0; scanned < auditScan; scanned += respond.MaxPage {
		// The last entry that was read comes again, and after it those that are older.
		messages, err := a.redis.XRevRangeN(c.Request.Context(), a.key, cmp.Or(last, "+"), "-", respond.MaxPage+1).Result()
		if err != nil {
			return fmt.Errorf("httpapi: audit: %w: %w", redisdb.ErrUnavailable, err)
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
				page.Result = append(page.Result, d)
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

package cache

import (
	"cmp"
	"strconv"
	"strings"

	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
)

// Keys of values that only larder reads contain the number of the value's format. So an instance that
// uses another format does not read them. catalogueForm is for catalogues, format for everything else.
const (
	format        = "f1"
	catalogueForm = "f4"
)

// DefaultMenu returns the restaurant id under which a connection's default menu is stored. This is the
// menu view that the ordering service returns without a restaurantId. No configured id contains '@'.
func DefaultMenu(connection string) menu.RestaurantID {
	return menu.RestaurantID("@" + connection)
}

// Keys has a method for every key and channel that larder uses in Redis.
//
// All keys of a restaurant share the hash tag {r:ID}; all keys of a content share {c:HASH}. A Redis
// cluster rejects a script whose keys are in several slots. The zero value uses redisdb.DefaultPrefix.
//
// A key of a menu has the tag of its source (policy O16), so that instances with different sources do not touch each
// other's menus. Keys without sources have no tags.
type Keys struct {
	prefix string
	tag    func(menu.RestaurantID) string // of the restaurant's source; nil: none
}

// NewKeys returns the keys with the given prefix.
func NewKeys(prefix string) Keys { return Keys{prefix: prefix} }

// withTag returns the keys of the source with this tag, for any restaurant.
func (k Keys) withTag(tag string) Keys {
	k.tag = func(menu.RestaurantID) string { return tag }
	return k
}

// source returns the part of a name that means the restaurant's source, or "".
func (k Keys) source(id menu.RestaurantID) string {
	if k.tag != nil {
		if tag := k.tag(id); tag != "" {
			return ":s:" + tag
		}
	}
	return ""
}

// of returns a key of a restaurant's menu.
func (k Keys) of(id menu.RestaurantID, parts ...string) string {
	return k.name("{r:"+string(id)+"}"+k.source(id), strings.Join(parts, ":"))
}

func (k Keys) name(parts ...string) string {
	return cmp.Or(k.prefix, redisdb.DefaultPrefix) + ":" + strings.Join(parts, ":")
}

func (k Keys) restaurant(id menu.RestaurantID, parts ...string) string {
	return k.name("{r:"+string(id)+"}", strings.Join(parts, ":"))
}

// Documented keys, which other programs may read too (docs/redis.md).

// Published is the documented hash current, with the fields version, content, syncedAt, index, source and others that
// only larder reads. It is a copy of Current of the source that published last.
func (k Keys) Published(id menu.RestaurantID) string { return k.restaurant(id, "current") }

// Current is a hash with the current version of the restaurant's source.
func (k Keys) Current(id menu.RestaurantID) string { return k.of(id, "current") }

// menu returns the keys of a menu that takeover.lua moves or copies, in its order.
func (k Keys) menu(id menu.RestaurantID) []string {
	return []string{k.Current(id), k.History(id), k.LastFetch(id), k.Findings(id), k.Fence(id)}
}

// MenuSources is a set of the tags of all sources that have published a menu of the restaurant.
func (k Keys) MenuSources(id menu.RestaurantID) string {
	return k.restaurant(id, catalogueForm, "sources")
}

// Version is the prefix of one version's keys. The hashes products, externalIds and schemes may have the
// prefix of the content instead; field index of Current contains the prefix that they have.
func (k Keys) Version(id menu.RestaurantID, version int64) string {
	return k.restaurant(id, "v", strconv.FormatInt(version, 10))
}

// Content is the prefix of one content's keys.
func (k Keys) Content(hash string) string { return k.name("{c:" + hash + "}") }

// Products, ExternalIDs and Schemes are the documented hashes. Their argument is the value of field
// index of Current. Stopped is the documented set.

// Products is a hash from dish id to JSON.
func (k Keys) Products(index string) string { return index + ":products" }

// ExternalIDs is a hash from a dish's externalId to a JSON array of the ids of dishes that have it.
func (k Keys) ExternalIDs(index string) string { return index + ":externalIds" }

// Schemes is a hash from scheme id to JSON.
func (k Keys) Schemes(index string) string { return index + ":schemes" }

// Stopped is a set of the ids of dishes and ingredients on the stop list.
func (k Keys) Stopped(id menu.RestaurantID, version int64) string {
	return k.Version(id, version) + ":stopped"
}

// Keys of the catalogues that only larder reads.

// Record is a version's record as JSON.
func (k Keys) Record(id menu.RestaurantID, version int64) string {
	return k.Version(id, version) + ":" + catalogueForm + ":record"
}

// StopValues contains the stop lists as the ordering service last published them, compressed with zstd.
func (k Keys) StopValues(id menu.RestaurantID, version int64) string {
	return k.Version(id, version) + ":" + catalogueForm + ":stops"
}

// History is a list of texts "version content", newest first (policy S7).
func (k Keys) History(id menu.RestaurantID) string { return k.of(id, catalogueForm, "history") }

// ContentBody is a hash: the menu view without stop lists, compressed with zstd, and its settings.
func (k Keys) ContentBody(hash string) string {
	return k.Content(hash) + ":" + catalogueForm + ":content"
}

// ContentUsers is a set of all restaurants that have used the content. None is ever removed.
func (k Keys) ContentUsers(hash string) string {
	return k.Content(hash) + ":" + catalogueForm + ":users"
}

// Contents is a set of the hashes of every stored content.
func (k Keys) Contents() string { return k.name(catalogueForm, "contents") }

// Swept exists for about a day after a sweep of unused contents, so that no second one starts.
func (k Keys) Swept() string { return k.name(catalogueForm, "swept") }

// Quarantined returns a key of the quarantined menus of all restaurants (policy S4a); see quarantine.lua for the parts. They
// share the hash tag {q}, because one script limits their size.
func (k Keys) Quarantined(part string) string { return k.name("{q}", format, "quarantined", part) }

// Notices is the channel of the messages "version restaurant" about new versions, and about availability with version 0.
func (k Keys) Notices() string { return k.name(format, "notices") }

// Reasons is a hash: a connection's rejection reasons and the time at which they were saved.
func (k Keys) Reasons(connection string) string {
	return k.name("{k:"+connection+"}"+k.source(DefaultMenu(connection)), format, "reasons")
}

// Availability is a hash from the kind of a restriction, such as pause:pickup, to hours.Restriction as JSON. It never expires.
func (k Keys) Availability(id menu.RestaurantID) string {
	return k.restaurant(id, format, "availability")
}

// Keys of package sync.

// Lease is a hash about a restaurant's lease. It expires.
func (k Keys) Lease(id menu.RestaurantID) string { return k.of(id, format, "lease") }

// Fence is a hash whose field "fence" is the restaurant's last fence. Publish rejects a lower one. The
// hash never expires.
func (k Keys) Fence(id menu.RestaurantID) string { return k.of(id, format, "fence") }

// Queue is a hash about a restaurant's queued manual run. It expires.
func (k Keys) Queue(id menu.RestaurantID) string { return k.of(id, format, "queue") }

// Runs is a hash of the records of a restaurant's unfinished runs.
func (k Keys) Runs(id menu.RestaurantID) string { return k.of(id, format, "runs-open") }

// RunLog is a stream of a restaurant's finished runs.
func (k Keys) RunLog(id menu.RestaurantID) string { return k.restaurant(id, format, "run-log") }

// Findings contains the lint findings of a restaurant's last fetched menu, as a JSON array.
func (k Keys) Findings(id menu.RestaurantID) string { return k.of(id, format, "findings") }

// LastFetch is a hash about the restaurant's last fetched menu, with its ETag and Last-Modified.
func (k Keys) LastFetch(id menu.RestaurantID) string { return k.of(id, format, "validator") }

// RunNotices is the channel of the messages "event JSON" about runs and batches. The events are
// run.started, run.finished and sync.progress.
func (k Keys) RunNotices() string { return k.name(format, "run-notices") }

// All keys of a batch share the hash tag {b:ID} and expire.

func (k Keys) batchName(id, part string) string { return k.name("{b:"+id+"}", format, part) }

// Batch is a hash: the request to sync restaurants, and its progress.
func (k Keys) Batch(id string) string { return k.batchName(id, "batch") }

// BatchPending is a set of the batch's restaurants that are not done.
func (k Keys) BatchPending(id string) string { return k.batchName(id, "pending") }

// BatchFaults is a hash from restaurant to the record of its failed or quarantined run.
func (k Keys) BatchFaults(id string) string { return k.batchName(id, "faults") }

// Batches is a sorted set of the ids of unfinished batches, by the time of their start.
func (k Keys) Batches() string { return k.name(format, "batches") }

// RunIndex is a sorted set of the texts "run restaurant", for the runs of all restaurants.
func (k Keys) RunIndex() string { return k.name(format, "runs") }

// ChangeIndex is like RunIndex, for the runs that published another content.
func (k Keys) ChangeIndex() string { return k.name(format, "changes") }

// Keys of the journal of orders. All keys of a connection share the hash tag {o:NAME}, so that one
// script can use any of them.

func (k Keys) orderName(connection, name string, id ...string) string {
	return cmp.Or(k.prefix, redisdb.DefaultPrefix) + ":{o:" + connection + "}:" + format + ":" + name + strings.Join(id, "")
}

// JournalSecret contains the secret that a connection without one gets. It never expires.
func (k Keys) JournalSecret() string { return k.name(format, "journal-secret") }

// OrderSecret contains the secret for hashing fingerprints and idempotency keys of a connection. It never expires.
func (k Keys) OrderSecret(connection string) string { return k.orderName(connection, "secret") }

// JournalState is a hash about the journal of a connection: its epoch, the marks of the last commits, and
// whether orders are paused (policies O14 and O14a). It never expires.
func (k Keys) JournalState(connection string) string { return k.orderName(connection, "journal") }

// OrderProbe is the test write of a command that only looks. It expires.
func (k Keys) OrderProbe(connection string) string { return k.orderName(connection, "probe") }

// Order is a text: one order's record. It expires (policy O13).
func (k Keys) Order(connection, ref string) string { return k.orderName(connection, "order:", ref) }

// OrderGuest is a hash with the guest data of one call of an order: the request and the ordering
// service's response. It expires (policy O13).
func (k Keys) OrderGuest(connection, ref string, call int) string {
	return k.orderName(connection, "guest:", ref, ":", strconv.Itoa(call))
}

// OrderKey contains "ref call" of the call that used an idempotency key. hash is the hash of that key.
// It expires (policy O7).
func (k Keys) OrderKey(connection, hash string) string { return k.orderName(connection, "key:", hash) }

// OrderID contains the ref of the order that has this orderID. It expires with the order's record.
func (k Keys) OrderID(connection, orderID string) string {
	return k.orderName(connection, "id:", orderID)
}

// OrderIDOf is OrderID for an order of another source than the one that OrderID refers to. It expires.
func (k Keys) OrderIDOf(connection, orderID, source string) string {
	return k.orderName(connection, "id:", orderID, "@", SourceTag(source))
}

// Connections is a set of the names of all connections that have ever been configured (policy O16). It never expires.
func (k Keys) Connections() string { return k.name(format, "connections") }

// OrderAborted exists for a while after a call was aborted before it was recorded. A delayed commit of
// this call then fails. opening is the ID of its CallSpec.
func (k Keys) OrderAborted(connection, opening string) string {
	return k.orderName(connection, "aborted:", opening)
}

// Orders is a sorted set of "created/ref" of every record, sorted as text and so by the time of creation.
func (k Keys) Orders(connection string) string { return k.orderName(connection, "orders") }

// OrdersIn is a sorted set like Orders, with the records in one state. The set of the state "unknown"
// has all records with an operation whose outcome is unknown. The state "placing" has no set.
func (k Keys) OrdersIn(connection, state string) string { return k.orderName(connection, "in:", state) }

// OrdersOpen is a sorted set of "created/ref call" of every open call, by the call's deadline (policy O12).
func (k Keys) OrdersOpen(connection string) string { return k.orderName(connection, "open") }

// OrdersExpiry is a sorted set of "created/ref" of every record that expires, by the time of expiry.
func (k Keys) OrdersExpiry(connection string) string { return k.orderName(connection, "expiry") }

// Journal returns a key of each kind that the journal of a connection has. All are in one slot of a cluster.
func (k Keys) Journal(connection string) []string {
	return []string{
		k.JournalState(connection), k.OrderSecret(connection), k.OrderProbe(connection),
		k.Order(connection, "x"), k.OrderGuest(connection, "x", 1),
		k.OrderKey(connection, "x"), k.OrderID(connection, "x"), k.OrderAborted(connection, "x"), k.Orders(connection),
		k.OrdersIn(connection, "unknown"), k.OrdersOpen(connection), k.OrdersExpiry(connection),
	}
}

// Sync returns a key of each kind that the syncs and the menu of a restaurant have.
func (k Keys) Sync(connection string, id menu.RestaurantID) []string {
	keys := []string{
		k.Published(id), k.MenuSources(id), k.Stopped(id, 1), k.Record(id, 1), k.StopValues(id, 1), k.ContentBody("x"),
		k.ContentUsers("x"), k.Contents(), k.Swept(), k.Quarantined("x"), k.RunLog(id), k.Batch("x"), k.BatchPending("x"),
		k.BatchFaults("x"), k.Batches(), k.RunIndex(), k.ChangeIndex(), k.Availability(id),
	}
	for _, index := range []string{k.Content("x"), k.Version(id, 1)} {
		keys = append(keys, k.Products(index), k.ExternalIDs(index), k.Schemes(index))
	}
	for _, of := range []Keys{k, k.withTag("x")} {
		keys = append(keys, append(of.menu(id), of.Lease(id), of.Queue(id), of.Runs(id), of.Reasons(connection))...)
	}
	return keys
}

// Keys of package httpapi.

// OpsAudit is a stream with the last ten thousand entries of the audit log.
func (k Keys) OpsAudit() string { return k.name(format, "ops-audit") }

// SigningKey contains the key that signs bearer tokens (policy H2).
func (k Keys) SigningKey() string { return k.name(format, "signing-key") }

// ReplacedSigningKeys is a sorted set of earlier signing keys. The score is the time until which tokens
// of the key are accepted, in milliseconds since the epoch. The set expires.
func (k Keys) ReplacedSigningKeys() string { return k.name(format, "signing-keys-replaced") }

// RevokedSigningKeys is a sorted set of the ids of signing keys that operators have revoked (policy H14). The score
// is the time in milliseconds since the epoch.
func (k Keys) RevokedSigningKeys() string { return k.name(format, "signing-keys-revoked") }

// Signing returns the keys with signing keys.
func (k Keys) Signing() []string {
	return []string{k.SigningKey(), k.ReplacedSigningKeys(), k.RevokedSigningKeys()}
}

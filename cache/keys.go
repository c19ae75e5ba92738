package cache

import (
	"strconv"
	"strings"

	"larder/internal/menu"
	"larder/internal/redisdb"
)

// The format numbers of larder's own values are part of their keys. An instance with another format
// does not read them (policy S3). catalogueForm is for catalogues, format for everything else.
const (
	format        = "f1"
	catalogueForm = "f3"
)

// DefaultMenu returns the restaurant id of a connection's default menu, the view that the ordering
// service returns without restaurantId. No configured id contains '@'.
func DefaultMenu(connection string) menu.RestaurantID {
	return menu.RestaurantID("@" + connection)
}

// Keys returns the name of every key that larder uses in Redis.
//
// All keys of a restaurant share the hash tag {r:ID}, and those of a content {c:HASH}, because a
// cluster rejects a script whose keys are in several slots. The zero value uses redisdb.DefaultPrefix.
type Keys struct{ prefix string }

// NewKeys returns the keys with the given prefix.
func NewKeys(prefix string) Keys { return Keys{prefix: prefix} }

func (k Keys) name(parts ...string) string {
	prefix := k.prefix
	if prefix == "" {
		prefix = redisdb.DefaultPrefix
	}
	return prefix + ":" + strings.Join(parts, ":")
}

func (k Keys) restaurant(id menu.RestaurantID, parts ...string) string {
	return k.name("{r:"+string(id)+"}", strings.Join(parts, ":"))
}

// Documented keys, for other programs too (docs/redis.md).

// Current is a hash: version, content, syncedAt, index, and larder's own fields.
func (k Keys) Current(id menu.RestaurantID) string { return k.restaurant(id, "current") }

// Version is the prefix of one version's keys. It is followed by the hashes products, externalIds and
// schemes, unless index of Current names the content's, and always by the set stopped.
func (k Keys) Version(id menu.RestaurantID, version int64) string {
	return k.restaurant(id, "v", strconv.FormatInt(version, 10))
}

// Content is the prefix of one content's keys.
func (k Keys) Content(hash string) string { return k.name("{c:" + hash + "}") }

// Products, ExternalIDs and Schemes are the documented hashes, with the prefix that
// index of Current contains. Stopped is the documented set.

// Products is a hash: dish id to JSON.
func (k Keys) Products(index string) string { return index + ":products" }

// ExternalIDs is a hash: externalId of dishes to a JSON array of ids.
func (k Keys) ExternalIDs(index string) string { return index + ":externalIds" }

// Schemes is a hash: scheme id to JSON.
func (k Keys) Schemes(index string) string { return index + ":schemes" }

// Stopped is a set of the stopped ids of dishes and ingredients.
func (k Keys) Stopped(id menu.RestaurantID, version int64) string {
	return k.Version(id, version) + ":stopped"
}

// Larder's own keys of the catalogues.

// Record is a version's record as JSON.
func (k Keys) Record(id menu.RestaurantID, version int64) string {
	return k.Version(id, version) + ":" + catalogueForm + ":record"
}

// StopValues is the stop lists as last published for the version, in zstd.
func (k Keys) StopValues(id menu.RestaurantID, version int64) string {
	return k.Version(id, version) + ":" + catalogueForm + ":stops"
}

// History is a list of "version content", newest first (policy S7).
func (k Keys) History(id menu.RestaurantID) string { return k.restaurant(id, catalogueForm, "history") }

// ContentBody is a hash: the view as published, without stop lists, in zstd, and the settings that compile it.
func (k Keys) ContentBody(hash string) string {
	return k.Content(hash) + ":" + catalogueForm + ":content"
}

// ContentUsers is a set of the restaurants whose history names the content.
func (k Keys) ContentUsers(hash string) string {
	return k.Content(hash) + ":" + catalogueForm + ":users"
}

// Contents is a set of the hashes of every stored content.
func (k Keys) Contents() string { return k.name(catalogueForm, "contents") }

// Swept exists while an instance has swept unused contents within the last day.
func (k Keys) Swept() string { return k.name(catalogueForm, "swept") }

// Notices is the channel of "version restaurant" messages.
func (k Keys) Notices() string { return k.name(format, "notices") }

// Reasons is a hash: a connection's rejection reasons and their time.
func (k Keys) Reasons(connection string) string {
	return k.name("{k:"+connection+"}", format, "reasons")
}

// Keys of package sync.

// Lease is the key of a restaurant's lease; it expires.
func (k Keys) Lease(id menu.RestaurantID) string { return k.restaurant(id, format, "lease") }

// Fence is a hash whose field "fence" is the restaurant's last fence. Publish
// compares with it; it never expires.
func (k Keys) Fence(id menu.RestaurantID) string { return k.restaurant(id, format, "fence") }

// Queue is the key of a restaurant's queued manual run; it expires.
func (k Keys) Queue(id menu.RestaurantID) string { return k.restaurant(id, format, "queue") }

// Runs is a hash of the records of a restaurant's unfinished runs.
func (k Keys) Runs(id menu.RestaurantID) string { return k.restaurant(id, format, "runs-open") }

// RunLog is a stream of a restaurant's finished runs.
func (k Keys) RunLog(id menu.RestaurantID) string { return k.restaurant(id, format, "run-log") }

// Findings are the lint findings of a restaurant's last fetched menu.
func (k Keys) Findings(id menu.RestaurantID) string { return k.restaurant(id, format, "findings") }

// LastFetch is a hash about the restaurant's last fetched menu, with the ordering service's validator.
func (k Keys) LastFetch(id menu.RestaurantID) string { return k.restaurant(id, format, "validator") }

// RunNotices is the channel of "event JSON" messages about runs and batches:
// run.started, run.finished, sync.progress.
func (k Keys) RunNotices() string { return k.name(format, "run-notices") }

// All keys of a batch share the hash tag {b:ID}; they expire.

func (k Keys) batchName(id, part string) string { return k.name("{b:"+id+"}", format, part) }

// Batch is a hash: the request and its progress.
func (k Keys) Batch(id string) string { return k.batchName(id, "batch") }

// BatchPending is a set of the batch's restaurants that are not done.
func (k Keys) BatchPending(id string) string { return k.batchName(id, "pending") }

// BatchFaults is a hash: restaurant to the record of its failed or quarantined run.
func (k Keys) BatchFaults(id string) string { return k.batchName(id, "faults") }

// Batches is a sorted set of the ids of unfinished batches, by time.
func (k Keys) Batches() string { return k.name(format, "batches") }

// RunIndex is a sorted set over the runs of all restaurants.
func (k Keys) RunIndex() string { return k.name(format, "runs") }

// Keys of the orders' journal. All of a connection share the hash tag {o:NAME}, so
// that one script may use any of them (policy O14).

func (k Keys) orderName(connection string, parts ...string) string {
	return k.name("{o:"+connection+"}", format, strings.Join(parts, ":"))
}

// JournalSecret holds the key of fingerprints and of hashed idempotency keys, one
// for all connections. It never expires.
func (k Keys) JournalSecret() string { return k.name(format, "journal-secret") }

// JournalState is a hash about all records of a connection, above all the Redis that holds them and the
// number of commits (policies O14 and O14a). It never expires.
func (k Keys) JournalState(connection string) string { return k.orderName(connection, "journal") }

// Order is a hash: one order's record. It expires (policy O13).
func (k Keys) Order(connection, ref string) string { return k.orderName(connection, "order", ref) }

// OrderGuest is a hash with the guest data of one call of an order: the request and
// the service's response. It expires (policy O13).
func (k Keys) OrderGuest(connection, ref string, call int) string {
	return k.orderName(connection, "guest", ref, strconv.Itoa(call))
}

// OrderKey holds "ref call" of the call that used an idempotency key, named by the
// key's hash. It expires (policy O7).
func (k Keys) OrderKey(connection, hash string) string { return k.orderName(connection, "key", hash) }

// OrderID holds the ref of the order with the service's orderID. It expires with the order's record.
func (k Keys) OrderID(connection, orderID string) string {
	return k.orderName(connection, "id", orderID)
}

// OrderAborted exists while an aborted commit of a new call must not take effect late; it expires.
func (k Keys) OrderAborted(connection, opening string) string {
	return k.orderName(connection, "aborted", opening)
}

// Orders is a sorted set of all records as "created/ref", sorted as text, which is by the time of creation.
func (k Keys) Orders(connection string) string { return k.orderName(connection, "orders") }

// OrdersIn is a sorted set like Orders, of the records in one state. State
// "unknown" contains the records with an operation whose outcome is unknown.
func (k Keys) OrdersIn(connection, state string) string { return k.orderName(connection, "in", state) }

// OrdersOpen is a sorted set: "ref call" of every open call, by its deadline (policy O12).
func (k Keys) OrdersOpen(connection string) string { return k.orderName(connection, "open") }

// OrdersExpiry is a sorted set: "created/ref" of every record that expires, by the time of its expiry.
func (k Keys) OrdersExpiry(connection string) string { return k.orderName(connection, "expiry") }

// Keys of package httpapi.

// OpsAudit is a stream: the audit log, its last ten thousand entries.
func (k Keys) OpsAudit() string { return k.name(format, "ops-audit") }

// SigningKey holds the key that signs bearer tokens (policy H2).
func (k Keys) SigningKey() string { return k.name(format, "signing-key") }

// ReplacedSigningKeys is a sorted set: earlier signing keys, by the time until
// which their tokens are accepted, in milliseconds since the epoch. It expires.
func (k Keys) ReplacedSigningKeys() string { return k.name(format, "signing-keys-replaced") }

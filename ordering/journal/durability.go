package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"larder.local/internal/redisdb"
	"larder.local/ordering"
)

const (
	noEviction = "noeviction"
	yes        = "1"
	byReplicas = "if replicas acknowledge writes, ordering.durability: replicas and ordering.wait_replicas"
)

// facts is what Redis says about its settings and replicas (policies O14 and O14b).
type facts struct {
	info        map[string]string // the fields of INFO that Redis shows
	infoRefused string            // how Redis refuses INFO; "" if it answers
	waitRefused string            // how Redis refuses WAIT; "" if it answers
	waited      int               // number of attached replicas by WAIT, which may be less than by INFO
	refused     string            // why Redis refuses the script that writes; "" if it does not
}

// readFacts asks the server that has the connection's records. The error means that the server did not answer.
func (d *durability) readFacts(ctx context.Context, connection string) (facts, error) {
	f := facts{info: map[string]string{}}
	if d.embedded {
		f.info["maxmemory_policy"], f.info["connected_slaves"] = noEviction, "0"
		return f, d.store.read.Ping(ctx).Err()
	}
	pipe, err := d.store.pipelineOf(ctx, d.store.keys.JournalState(connection), 0)
	if err != nil {
		return f, err
	}
	var sections []*redis.StringCmd
	for _, section := range []string{"memory", "persistence", "replication"} {
		sections = append(sections, pipe.Info(ctx, section)) // one command with several sections needs Redis 7
	}
	var wait *redis.Cmd
	if d.waits() {
		wait = pipe.Do(ctx, "WAIT", 0, 1) // returns at once
	}
	// Scripts change the orders: may larder use the keys in them?
	eval := pipe.Eval(ctx, "return 1", d.store.keys.Journal(connection))
	_, _ = pipe.Exec(ctx) // each reply has its own error
	for _, section := range sections {
		why := redisdb.RefusedCommand(section.Err())
		if section.Err() != nil && why == "" {
			return f, section.Err()
		}
		f.infoRefused = cmp.Or(f.infoRefused, why)
		maps.Copy(f.info, redisdb.InfoFields(section.Val()))
	}
	if wait != nil {
		f.waited, err = wait.Int()
		if f.waitRefused = redisdb.RefusedCommand(err); f.waitRefused == "" && err != nil {
			return f, err
		}
		d.note(connection, func(known *observed) { known.waitRefused = f.waitRefused })
	}
	err = eval.Err()
	if err == nil {
		err = d.store.write.Exists(ctx, d.store.keys.JournalSecret()).Err() // on its own server of a cluster
	}
	if redisdb.RefusedCommand(err) != "" { // other errors are of the moment, such as MOVED in a cluster
		f.refused = redisdb.RefusedText(d.store.prefix, err) // as /readyz shows it
	}
	return f, nil
}

// attached returns the number of replicas that Redis reports, -1 if it is unknown.
func (f facts) attached() int {
	n, err := strconv.Atoi(f.info["connected_slaves"])
	if err != nil {
		n = -1
	}
	if f.waited > 0 {
		n = max(n, f.waited)
	}
	return n
}

// online returns the number of attached replicas that INFO does not report as still copying, -1 if it is unknown.
func (f facts) online() int {
	count, listed := 0, false
	for name, value := range f.info { // slave0:ip=…,port=…,state=online,…
		if strings.HasPrefix(name, "slave") && strings.Contains(value, "state=") {
			listed = true
			if strings.Contains(value, "state=online") {
				count++
			}
		}
	}
	if listed {
		return count
	}
	return f.attached()
}

// notShown describes a field of INFO that larder cannot read. It names the right that is missing only if that is the reason.
func (f facts) notShown(question, field, setting string) string {
	why := redisdb.RefusalText("INFO", f.infoRefused)
	switch f.infoRefused {
	case redisdb.NoPermission:
		return "larder may not ask Redis " + question + " (" + why + "): allow INFO for larder's user (ACL SETUSER NAME +info), or, if " + setting
	case "":
		why = "INFO does not show " + field
	}
	return "Redis does not say " + question + " (" + why + "): if " + setting
}

// durabilityError returns an error with every reason why this Redis cannot store orders durably. replicas is the
// error if too few replicas acknowledge writes.
func (d *durability) durabilityError(f facts, connection string, replicas error) error {
	faults := []string{d.evictionFault(f), d.diskFault(f, d.required(connection))}
	if f.refused != "" {
		faults = append(faults, "Redis "+f.refused)
	}
	if refused := d.known(connection).waitRefused; refused != "" && d.waits() {
		faults = append(faults, d.waitFault(refused, f))
		replicas = nil // this is why
	}
	faults = slices.DeleteFunc(faults, func(fault string) bool { return fault == "" })
	if len(faults) == 0 {
		return replicas
	}
	if missing, ok := errors.AsType[*ordering.NotReadyError](replicas); ok {
		faults = append(faults, missing.Msg)
	}
	return &ordering.NotReadyError{Msg: strings.Join(faults, ". Also: "), RetryAfter: retrySettings}
}

func (d *durability) evictionFault(f facts) string {
	switch policy := f.info["maxmemory_policy"]; {
	case policy == noEviction || d.cfg.AllowEviction:
		return ""
	case policy == "":
		return f.notShown("whether it evicts orders", "maxmemory_policy", "maxmemory-policy is noeviction, set ordering.allow_eviction: true")
	default:
		return fmt.Sprintf("Redis may evict orders when its memory is full (maxmemory-policy is %q): "+
			"set maxmemory-policy noeviction in Redis, or ordering.allow_eviction: true", policy)
	}
}

func (d *durability) diskFault(f facts, required int) string {
	appendOnly := f.info["aof_enabled"]
	switch {
	case f.info["aof_last_write_status"] == "err":
		return "Redis cannot write its append-only file (aof_last_write_status is err): check its disk"
	case d.cfg.AllowNonDurable || appendOnly == yes:
		return ""
	case d.embedded:
		return "the embedded Redis keeps orders in memory only: set redis.url to a Redis with appendonly yes, " +
			"or set ordering.allow_non_durable: true"
	case d.cfg.Durability == ordering.DurableByReplicas && required > 0: // recovered reports whether they acknowledge
		return ""
	case appendOnly == "":
		return f.notShown("whether it writes orders to disk", "aof_enabled", "it does, set ordering.allow_non_durable: true; or, "+byReplicas)
	default:
		return "Redis does not write every order to disk (appendonly is off, and snapshots lose the latest orders): " +
			"set appendonly yes in Redis, or, " + byReplicas + ", or ordering.allow_non_durable: true"
	}
}

// waitFault describes a refused WAIT, and what to change.
func (d *durability) waitFault(why string, f facts) string {
	text := fmt.Sprintf("larder cannot know whether replicas of Redis have an order (%s; %s): ",
		redisdb.RefusalText("WAIT", why), ordering.AttachedText(f.attached()))
	switch why {
	case redisdb.NoPermission:
		text += "allow it for larder's user (ACL SETUSER NAME +wait)"
	case "ERR":
		text += "find out why (redis-cli WAIT 0 1)"
	default:
		text += "use a Redis that has WAIT"
	}
	text += ", or set ordering.wait_replicas: 0; a failover can then lose orders, and a repeated request sends a lost one again"
	if d.cfg.Durability == ordering.DurableByReplicas {
		text += ", so ordering.durability must be disk, and without an append-only file ordering.allow_non_durable: true"
	}
	return text
}

// missingReplicas returns why too few replicas acknowledge writes, and what to change.
func (d *durability) missingReplicas(connection string) error {
	missing := &ordering.NotReadyError{RetryAfter: retrySilent, Err: errReplicas}
	known := d.known(connection)
	f, required := known.facts, d.required(connection)
	switch online := f.online(); {
	case known.waitRefused != "":
		missing.Msg = d.waitFault(known.waitRefused, f)
	case online < 0 || online >= required:
		missing.Msg = fmt.Sprintf("too few replicas of Redis acknowledge writes (%d needed; %s): repair the replicas, "+
			"or set ordering.wait_replicas to 0", required, ordering.AttachedText(f.attached()))
	case d.cfg.WaitReplicas != nil:
		missing.Msg = fmt.Sprintf("ordering.wait_replicas is %d, but %s: add replicas, or lower the setting",
			required, ordering.AttachedText(online))
	default:
		missing.Msg = "Redis has lost its replicas: a failover would lose orders; repair the replicas, " +
			"or set ordering.wait_replicas to 0: a repeated request then sends a lost order again"
	}
	return missing
}

// durabilityText returns what a Redis without an append-only file does not survive (policy O14b).
func (d *durability) durabilityText(f facts) string {
	then := "instances that run, or have ordering.state_dir, detect both and pause orders"
	switch {
	case d.history.restoreAccepted():
		then = "with ordering.accept_restore, larder continues after both"
	case d.cfg.StateDir == "":
		then = "only instances that keep running detect both; one that starts later sends a lost order again if its request is repeated: " +
			"set ordering.state_dir"
	}
	switch appendOnly := f.info["aof_enabled"]; {
	case appendOnly == yes || d.embedded || f.info == nil:
		return ""
	case d.cfg.Durability == ordering.DurableByReplicas:
		return "replicas instead of a disk keep orders (ordering.durability): orders do not survive a master that restarts empty " +
			"before its replica takes over, or the loss of all nodes; " + then
	case appendOnly == "":
		return "it is not known whether Redis writes orders to disk (ordering.allow_non_durable)"
	default:
		return "Redis does not write every order to disk (ordering.allow_non_durable): a restart of Redis can lose orders"
	}
}

package chaos

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// The kinds of faults.
const (
	LarderKilled = "larder killed"
	LarderFrozen = "larder frozen"

	MasterKilled   = "master killed"
	MasterFrozen   = "master frozen"
	MasterHangs    = "master behind a dead line"
	MasterRefused  = "master behind a closed line"
	MasterReturns  = "master comes back while a replica takes over"
	MasterReplaced = "master replaced without a fault of the plan"
	ReplicaCut     = "replica cut off"
	ReplicaFrozen  = "replica frozen"
	ReplicaKilled  = "replica killed"
	ReplicasFirst  = "replicas fail one after the other, then the master"
	DiskFull       = "disk full"
	BackupTaken    = "backup taken"
	BackupRestored = "backup restored"
	Flushed        = "FLUSHALL"
	Accepted       = "operator accepts the journal"

	AnswerLost  = "service executes, the answer is lost"
	AnswerHangs = "service executes, the answer hangs"
	CallLost    = "service resets before it executes"
	Unavailable = "service answers 503"
	Overloaded  = "service executes and answers 503"
	Twice       = "service answers twice"
	Slow        = "service slow"
)

// losesData reports whether a fault loses acknowledged data, or may. If a master
// comes back late, or was only slow, a replica may have acknowledged and not be
// elected.
func (f Fault) losesData() bool {
	return slices.Contains([]string{BackupRestored, Flushed, MasterReturns, MasterReplaced}, f.Kind)
}

// losesMaster reports whether a replica may take over during a fault.
func (f Fault) losesMaster() bool {
	return slices.Contains([]string{MasterKilled, MasterFrozen, MasterHangs, MasterRefused, DiskFull, ReplicasFirst}, f.Kind)
}

// Step is one fault of a plan.
type Step struct {
	At, For time.Duration
	Kind    string
	Target  int // the larder instance, or the number of the replica
}

// ofRedis reports whether the step affects Redis.
func (s Step) ofRedis() bool {
	return !slices.Contains([]string{
		LarderKilled, LarderFrozen, BackupTaken, Accepted,
	}, s.Kind) && !slices.Contains(ofService, s.Kind)
}

// ofService are the faults of the ordering service.
//
//nolint:gochecknoglobals // constant
var ofService = []string{AnswerLost, AnswerHangs, CallLost, Unavailable, Overloaded, Twice, Slow}

// Plan lists faults in the order of time.
type Plan []Step

func (p Plan) String() string {
	var text strings.Builder
	for _, s := range p {
		fmt.Fprintf(&text, "\n  %6.1fs for %4.1fs  %s (%d)", s.At.Seconds(), s.For.Seconds(), s.Kind, s.Target)
	}
	return text.String()
}

// The topologies of Redis.
const (
	Single   = "single"
	Sentinel = "sentinel"
	Cluster  = "cluster"
)

// NewPlan draws a plan from the seed: faults of larder, of Redis and of the
// service, at most one of each at a time. If loss is true, the second half of a
// long run starts with a fault that loses data, followed by faults of larder and
// the service.
func NewPlan(form string, seed uint64, length time.Duration, loss bool) Plan {
	draw := rand.New(rand.NewPCG(seed, uint64(len(form))))
	redis := []string{MasterKilled, MasterFrozen, MasterHangs, MasterRefused, DiskFull}
	pause := 3 * time.Second
	if form != Single {
		redis = append(redis, ReplicaCut, ReplicaFrozen, ReplicaKilled, ReplicasFirst)
		pause = 7 * time.Second // a replica takes over, and the old master follows it
	}
	redisUntil := length
	if loss {
		redisUntil = length * 6 / 10
	}
	plan := track(draw, redis, redisUntil-4*time.Second, pause)
	if loss {
		losses := []Step{{Kind: BackupRestored}, {Kind: Flushed}}
		if form == Sentinel {
			losses = append(losses, Step{Kind: MasterReturns, For: failoverAfter + 300*time.Millisecond})
		}
		lost := losses[draw.IntN(len(losses))]
		lost.At = redisUntil
		plan = append(plan,
			Step{At: redisUntil / 2, Kind: BackupTaken},
			lost,
			Step{At: redisUntil + (length-redisUntil)/2, Kind: Accepted})
	}
	plan = append(plan, track(draw, []string{LarderKilled, LarderFrozen}, length, 4*time.Second)...)
	plan = append(plan, track(draw, ofService, length, 3*time.Second)...)
	slices.SortStableFunc(plan, func(a, b Step) int { return int(a.At - b.At) })
	return plan
}

// track draws consecutive faults with a pause between them.
func track(draw *rand.Rand, kinds []string, until, pause time.Duration) (plan Plan) {
	at := time.Second + time.Duration(draw.Int64N(int64(time.Second)))
	for {
		length := 500*time.Millisecond + time.Duration(draw.Int64N(int64(2500*time.Millisecond)))
		if at+length > until {
			return plan
		}
		plan = append(plan, Step{
			At:     at,
			For:    length,
			Kind:   kinds[draw.IntN(len(kinds))],
			Target: draw.IntN(instances),
		})
		at += length + pause/2 + time.Duration(draw.Int64N(int64(pause)))
	}
}

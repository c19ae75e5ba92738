package measure

import (
	"strconv"
	"time"
)

// Figures are what was measured at one size. Memory is in bytes, CPU in
// seconds of one core for each minute that passes.
type Figures struct {
	Restaurants  int     `json:"restaurants"`
	Replicas     int     `json:"replicas"`
	Products     int     `json:"products"`
	Menus        int     `json:"menus"`    // that are distinct
	RawBytes     int64   `json:"rawBytes"` // of their JSON, together
	Schedule     string  `json:"schedule"` // of each restaurant
	Load         float64 `json:"load"`     // average of the machine before it began
	RedisVersion string  `json:"redisVersion"`
	RateLimit    float64 `json:"rateLimit"` // calls a second, all replicas together; 0 is none

	Filled     Duration `json:"filled"`     // from the first process's start until every replica serves all
	Calls      int      `json:"calls"`      // of the ordering service until then
	CallsMean  float64  `json:"callsMean"`  // a second
	CallsPeak  float64  `json:"callsPeak"`  // a second, over a whole second
	CallFaults int      `json:"callFaults"` // answered by anything but a menu

	RedisBytes   int64 `json:"redisBytes"`
	ReplicaRSS   int64 `json:"replicaRSS"`   // of the largest replica
	ReplicaHeap  int64 `json:"replicaHeap"`  // reachable, of the largest replica
	ColdRSS      int64 `json:"coldRSS"`      // of the replica that only loaded from Redis
	ColdHeap     int64 `json:"coldHeap"`     // reachable there
	HeapGoal     int64 `json:"heapGoal"`     // 1.5 × RawBytes + 4 KiB a restaurant
	ServiceBytes int64 `json:"serviceBytes"` // RSS of the ordering service, for whoever has one machine

	Steady       Duration  `json:"settled"`      // after the cold start, until no more is synced than the schedule asks for
	Window       Duration  `json:"window"`       // that the next four were measured over
	ReplicaCPU   []float64 `json:"replicaCPU"`   // of each replica
	RedisCPU     float64   `json:"redisCPU"`     //
	ServiceCPU   float64   `json:"serviceCPU"`   //
	WindowRuns   float64   `json:"windowRuns"`   // syncs a second in the window
	WindowFaults int       `json:"windowFaults"` // syncs that were neither unchanged nor skipped

	ColdReady    Duration `json:"coldReady"`    // a new replica's start until /readyz answers 200
	ColdServed   Duration `json:"coldServed"`   // until it has every restaurant
	FirstReads   int      `json:"firstReads"`   // menus never read before, one after the other
	FirstReadMid Duration `json:"firstReadMid"` // median
	FirstReadMax Duration `json:"firstReadMax"`

	Changes    int      `json:"changes"`    // of a stop list, each followed by a sync
	ChangeMid  Duration `json:"changeMid"`  // from the service's change until all replicas show it
	ChangeP99  Duration `json:"changeP99"`  //
	NoticeMid  Duration `json:"noticeMid"`  // from the notice until a replica shows the version
	NoticeP99  Duration `json:"noticeP99"`  //
	NoticeLost int      `json:"noticeLost"` // changes that a replica showed only after more than a second

	Unchanged []Comparison `json:"unchanged"`
}

// Comparison is the CPU of an unchanged sync beside that of fetching and
// hashing the body alone.
type Comparison struct {
	Name  string   `json:"name"`
	Sync  Duration `json:"sync"`
	Alone Duration `json:"alone"`
	Ratio float64  `json:"ratio"`
}

// Duration is a time.Duration that reads and writes JSON as milliseconds.
type Duration time.Duration

// MarshalJSON gives milliseconds.
func (d Duration) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(d)/float64(time.Millisecond), 'f', 3, 64), nil
}

// UnmarshalJSON reads milliseconds.
func (d *Duration) UnmarshalJSON(text []byte) error {
	ms, err := strconv.ParseFloat(string(text), 64)
	*d = Duration(ms * float64(time.Millisecond))
	return err
}

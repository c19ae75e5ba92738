package measure

import (
	"strconv"
	"time"
)

// Figures are the results for one size. Memory is in bytes, CPU in seconds of one
// core per minute.
type Figures struct {
	Restaurants  int     `json:"restaurants"`
	Replicas     int     `json:"replicas"`
	Products     int     `json:"products"`
	Menus        int     `json:"menus"`    // distinct menus
	RawBytes     int64   `json:"rawBytes"` // total size of their JSON
	Schedule     string  `json:"schedule"` // of each restaurant
	Load         float64 `json:"load"`     // load average of the machine at the start
	RedisVersion string  `json:"redisVersion"`
	RateLimit    float64 `json:"rateLimit"` // calls per second of all replicas together; 0: no limit

	Filled     Duration `json:"filled"`     // from the start of the first process until every replica serves all menus
	Calls      int      `json:"calls"`      // to the ordering service in this time
	CallsMean  float64  `json:"callsMean"`  // per second
	CallsPeak  float64  `json:"callsPeak"`  // highest number in one second
	CallFaults int      `json:"callFaults"` // without a menu in the response

	RedisBytes   int64 `json:"redisBytes"`
	ReplicaRSS   int64 `json:"replicaRSS"`   // of the largest replica
	ReplicaHeap  int64 `json:"replicaHeap"`  // reachable, of the largest replica
	ColdRSS      int64 `json:"coldRSS"`      // of a replica that loaded everything from Redis
	ColdHeap     int64 `json:"coldHeap"`     // reachable, of this replica
	HeapGoal     int64 `json:"heapGoal"`     // 1.5 × RawBytes + 4 KiB per restaurant
	ServiceBytes int64 `json:"serviceBytes"` // RSS of the ordering service, on the same machine

	Steady       Duration  `json:"settled"`      // after the cold start, until only scheduled syncs run
	Window       Duration  `json:"window"`       // duration of the next five measurements
	ReplicaCPU   []float64 `json:"replicaCPU"`   // of each replica
	RedisCPU     float64   `json:"redisCPU"`     //
	ServiceCPU   float64   `json:"serviceCPU"`   //
	WindowRuns   float64   `json:"windowRuns"`   // syncs per second
	WindowFaults int       `json:"windowFaults"` // syncs that were neither unchanged nor skipped

	ColdReady    Duration `json:"coldReady"`    // start of a new replica until /readyz returns 200
	ColdServed   Duration `json:"coldServed"`   // until it serves every restaurant
	PollCPU      float64  `json:"pollCPU"`      // of this replica while it only polls
	FirstReads   int      `json:"firstReads"`   // of different menus, sequential
	FirstReadMid Duration `json:"firstReadMid"` // median
	FirstReadMax Duration `json:"firstReadMax"`

	Listening Duration `json:"listening"` // start of the instance until it listens
	ReadyCPU  Duration `json:"readyCPU"`  // CPU time of the instance until ColdReady
	Probe     Duration `json:"probe"`     // one request of /readyz
	Scrape    Duration `json:"scrape"`    // one request of /metrics

	Changes    int      `json:"changes"`    // of a stop list, each followed by a sync
	ChangeMid  Duration `json:"changeMid"`  // from the service's change until all replicas show it
	ChangeP99  Duration `json:"changeP99"`  //
	NoticeMid  Duration `json:"noticeMid"`  // from the notice until a replica shows the version
	NoticeP99  Duration `json:"noticeP99"`  //
	NoticeLost int      `json:"noticeLost"` // changes that a replica showed after more than a second

	Unchanged []Comparison `json:"unchanged"`
}

// Comparison compares the CPU time of an unchanged sync with that of only fetching
// and hashing the body.
type Comparison struct {
	Name  string   `json:"name"`
	Sync  Duration `json:"sync"`
	Alone Duration `json:"alone"`
	Ratio float64  `json:"ratio"`
}

// Duration is a time.Duration that is a number of milliseconds in JSON.
type Duration time.Duration

// MarshalJSON returns milliseconds.
func (d Duration) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(d)/float64(time.Millisecond), 'f', 3, 64), nil
}

// UnmarshalJSON reads milliseconds.
func (d *Duration) UnmarshalJSON(text []byte) error {
	ms, err := strconv.ParseFloat(string(text), 64)
	*d = Duration(ms * float64(time.Millisecond))
	return err
}

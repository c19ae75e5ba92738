package chaos

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// The operations of an order.
const (
	Create   = "create"
	Pay      = "pay"
	Complete = "complete"
	Reject   = "reject"
)

// Answer is one request of a client to larder and its answer. Times are
// microseconds since the start of the run.
type Answer struct {
	Start     int64  `json:"start"`
	End       int64  `json:"end"`
	Instance  int    `json:"instance"`
	Operation string `json:"operation"`
	Order     string `json:"order"` // the key of the order's create
	Key       string `json:"key"`
	Status    int    `json:"status"` // 0: no answer
	Code      string `json:"code,omitempty"`
	OrderID   string `json:"orderID,omitempty"`
	Ref       string `json:"ref,omitempty"`
	Body      string `json:"body,omitempty"`
	Error     string `json:"error,omitempty"`
	Final     bool   `json:"final,omitempty"` // requested after all faults
}

// Done reports whether larder acknowledged the operation.
func (a Answer) Done() bool { return a.Status/100 == 2 }

// Fault is one injected fault.
type Fault struct {
	Start  int64  `json:"start"`
	End    int64  `json:"end"`
	Kind   string `json:"kind"`
	Target int    `json:"target"` // the larder instance, or the Redis server
	Note   string `json:"note,omitempty"`
}

// Arrival is a change of an order that reached the ordering service.
type Arrival struct {
	At        int64  `json:"at"`
	Operation string `json:"operation"`
	OrderID   string `json:"orderID"`
	Repeat    bool   `json:"repeat,omitempty"` // the service had executed it before
}

// Executed is an order at the ordering service at the end.
type Executed struct {
	OrderID  string `json:"orderID"`
	Order    string `json:"order"` // the key of its create, which every order has in its comment
	State    string `json:"state"`
	Paid     bool   `json:"paid"`
	Payments int    `json:"payments"`
}

// Record is an order at larder after all faults.
type Record struct {
	At       int64             `json:"at"`
	Order    string            `json:"order"`
	Instance int               `json:"instance"`
	Status   int               `json:"status"` // of the answer; 404: larder does not know the order
	State    string            `json:"state,omitempty"`
	OrderID  string            `json:"orderID,omitempty"`
	Ref      string            `json:"ref,omitempty"`
	Last     map[string]string `json:"last,omitempty"` // operation to the outcome of its last attempt
	Listed   bool              `json:"listed"`         // in the operators' list of unknown orders
}

// History is one run. Its methods may be called from several goroutines.
type History struct {
	Answers  []Answer
	Faults   []Fault
	Arrivals []Arrival
	Executed []Executed
	Records  []Record

	mu    sync.Mutex
	began time.Time
	file  *json.Encoder
}

// entry is one line of a history file.
type entry struct {
	Answer   *Answer   `json:"answer,omitempty"`
	Fault    *Fault    `json:"fault,omitempty"`
	Arrival  *Arrival  `json:"arrival,omitempty"`
	Executed *Executed `json:"executed,omitempty"`
	Record   *Record   `json:"record,omitempty"`
}

// NewHistory returns an empty history that writes each entry to w at once.
func NewHistory(w io.Writer) *History {
	return &History{began: time.Now(), file: json.NewEncoder(w)}
}

// now returns the microseconds since the start of the run.
func (h *History) now() int64 { return time.Since(h.began).Microseconds() }

func (h *History) add(e entry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case e.Answer != nil:
		h.Answers = append(h.Answers, *e.Answer)
	case e.Fault != nil:
		h.Faults = append(h.Faults, *e.Fault)
	case e.Arrival != nil:
		h.Arrivals = append(h.Arrivals, *e.Arrival)
	case e.Executed != nil:
		h.Executed = append(h.Executed, *e.Executed)
	case e.Record != nil:
		h.Records = append(h.Records, *e.Record)
	}
	if h.file != nil {
		_ = h.file.Encode(e) // the check uses the history in memory
	}
}

// ReadHistory reads the output of a History, to check it again.
func ReadHistory(path string) (*History, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	h := &History{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var e entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		h.add(e)
	}
	return h, lines.Err()
}

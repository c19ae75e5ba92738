package journaltest_test

import (
	"errors"
	"flag"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"larder.local/internal/testkit/journaltest"
	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// parallel is the number of concurrent tests, whatever the number of processors:
// many of them wait.
const parallel = 16

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(parallel)); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// clock is a manual clock.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(_ *testing.T, d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func TestMemory(t *testing.T) {
	t.Parallel()
	journaltest.Run(t, func(_ *testing.T, retention journaltest.Retention) journaltest.Fixture {
		c := newClock()
		m := journaltest.NewMemory(c.Now, retention)
		return journaltest.Fixture{
			Journal: m,
			Again:   func(*testing.T) ordering.Journal { return m },
			Advance: c.Advance,
			Lose:    func(_ *testing.T, connection string) { m.Lose(connection) },
		}
	})
}

// TestMemoryInRealTime runs the suite as a store without its own clock does.
func TestMemoryInRealTime(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for retentions of about a second")
	}
	journaltest.Run(t, func(_ *testing.T, retention journaltest.Retention) journaltest.Fixture {
		m := journaltest.NewMemory(time.Now, retention)
		return journaltest.Fixture{
			Journal: m,
			Again:   func(*testing.T) ordering.Journal { return m },
			Lose:    func(_ *testing.T, connection string) { m.Lose(connection) },
		}
	})
}

func TestMemoryFails(t *testing.T) {
	t.Parallel()
	calls := map[journaltest.Method]func(m *journaltest.Memory, o ordering.CallSpec) error{
		journaltest.MethodReady: func(m *journaltest.Memory, _ ordering.CallSpec) error { return m.Ready(t.Context(), "main") },
		journaltest.MethodLookup: func(m *journaltest.Memory, o ordering.CallSpec) error {
			_, _, err := m.Lookup(t.Context(), o.Connection, o.Key)
			return err
		},
		journaltest.MethodBegin: func(m *journaltest.Memory, o ordering.CallSpec) error {
			o.Ref, o.Key = "another", "another"
			_, err := m.Begin(t.Context(), o)
			return err
		},
		journaltest.MethodAbort: func(m *journaltest.Memory, o ordering.CallSpec) error { return m.Abort(t.Context(), o) },
		journaltest.MethodFinish: func(m *journaltest.Memory, o ordering.CallSpec) error {
			_, err := m.Finish(t.Context(), ordering.CallResult{
				Connection: o.Connection,
				Ref:        o.Ref,
				Call:       1,
				Outcome:    ordering.OutcomeUnknown,
			})
			return err
		},
		journaltest.MethodResolve: func(m *journaltest.Memory, o ordering.CallSpec) error {
			_, err := m.Resolve(t.Context(), ordering.ResolveCall{
				Connection: o.Connection,
				Ref:        o.Ref,
				Operation:  upstream.OpCreate,
				Resolution: ordering.ResolvedNotDone,
			})
			return err
		},
		journaltest.MethodSweep: func(m *journaltest.Memory, o ordering.CallSpec) error {
			_, err := m.Sweep(t.Context(), o.Connection)
			return err
		},
		journaltest.MethodOrder: func(m *journaltest.Memory, o ordering.CallSpec) error {
			_, err := m.Order(t.Context(), o.Connection, "765")
			return err
		},
		journaltest.MethodRecord: func(m *journaltest.Memory, o ordering.CallSpec) error {
			_, err := m.Record(t.Context(), []string{o.Connection}, o.Ref)
			return err
		},
		journaltest.MethodBody: func(m *journaltest.Memory, o ordering.CallSpec) error {
			_, err := m.Body(t.Context(), o.Connection, o.Ref, 1)
			return err
		},
		journaltest.MethodList: func(m *journaltest.Memory, o ordering.CallSpec) error {
			_, _, err := m.List(t.Context(), ordering.Query{Connections: []string{o.Connection}, Limit: 1})
			return err
		},
	}
	for method, call := range calls {
		t.Run(string(method), func(t *testing.T) {
			t.Parallel()
			m := journaltest.NewMemory(newClock().Now, journaltest.LongRetention())
			o := ordering.CallSpec{
				ID:         "o",
				Operation:  upstream.OpCreate,
				Connection: "main",
				Ref:        "r",
				Key:        "k",
				Body:       []byte("{}"),
			}
			if _, err := m.Begin(t.Context(), o); err != nil {
				t.Fatalf("Begin: %v", err)
			}
			for _, failure := range []journaltest.Failure{journaltest.FailBefore, journaltest.FailAfter} {
				m.Fail(func(asked journaltest.Method) journaltest.Failure {
					if asked == method {
						return failure
					}
					return journaltest.FailNot
				})
				var journal *ordering.JournalError
				if err := call(m, o); !errors.As(err, &journal) || !errors.Is(err, journaltest.ErrInjected) {
					t.Errorf("failure %d: %v, want an injected *JournalError", failure, err)
				}
			}
		})
	}
}

func TestMemoryLostAnswerTookEffect(t *testing.T) {
	t.Parallel()
	for failure, want := range map[journaltest.Failure]error{
		journaltest.FailBefore: ordering.ErrNoOrder, journaltest.FailAfter: nil,
	} {
		m := journaltest.NewMemory(newClock().Now, journaltest.LongRetention())
		m.Fail(func(journaltest.Method) journaltest.Failure { return failure })
		_, _ = m.Begin(t.Context(), ordering.CallSpec{
			ID:         "o",
			Operation:  upstream.OpCreate,
			Connection: "main",
			Ref:        "r",
		})
		m.Fail(nil)
		if _, err := m.Record(t.Context(), []string{"main"}, "r"); !errors.Is(err, want) {
			t.Errorf("after failure %d Record says %v, want %v", failure, err, want)
		}
	}
}

package events_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"net"
	"runtime"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"larder.local/httpapi/events"
	"larder.local/internal/testkit/apitest"
)

// go test ./httpapi -run ManyReaders -streams 9000 -v measures; each stream needs two open files.
var manyStreams = flag.Int("streams", 500, "readers of TestManyReadersOfOneMenu")

// cpu returns the CPU time that this process has used.
func cpu(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// memory returns the heap and stacks of the process.
func memory() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// Every reader of a restaurant gets an event for every version, however many readers there are. The
// log shows the cost, including that of the readers.
func TestManyReadersOfOneMenu(t *testing.T) { //nolint:paralleltest // it measures the whole process
	w := apitest.New(t, apitest.WithEvents(func(c *events.Config) { c.PerAddress = 0 }))
	var dialer net.Dialer
	lines := make([]net.Conn, *manyStreams)
	before := memory()
	var opening errgroup.Group
	opening.SetLimit(64)
	for i := range lines {
		opening.Go(func() error {
			conn, err := dialer.DialContext(t.Context(), "tcp", w.URL[len("http://"):])
			if err != nil {
				return err
			}
			lines[i] = conn
			if _, err := fmt.Fprintf(conn, "GET /v1/events?restaurant=%s HTTP/1.1\r\nHost: larder\r\n\r\n", apitest.Bistro); err != nil {
				return err
			}
			return readUntil(conn, `"version":1,`)
		})
	}
	err := opening.Wait()
	defer func() {
		for _, conn := range lines {
			if conn != nil {
				_ = conn.Close()
			}
		}
	}()
	if err != nil {
		t.Fatal(err)
	}
	w.WaitMetric(fmt.Sprintf(`larder_event_streams{kind="menu"} %d`, len(lines)))
	t.Logf("%d streams hold %.1f KiB each", len(lines), float64(memory()-before)/1024/float64(len(lines)))
	for version := 2; version <= 4; version++ {
		var reading errgroup.Group
		for _, conn := range lines {
			reading.Go(func() error { return readUntil(conn, fmt.Sprintf(`"version":%d,`, version)) })
		}
		w.Service.SetMenu(apitest.Bistro, apitest.Dishes(50, 100, version%2 == 0))
		began, used := time.Now(), cpu(t)
		w.SyncOnce(apitest.Bistro)
		if err := reading.Wait(); err != nil {
			t.Fatalf("version %d: %v", version, err)
		}
		took, spent := time.Since(began), cpu(t)-used
		t.Logf("version %d reached all %d in %v: %.1f µs of CPU each", version, len(lines), took, float64(spent.Microseconds())/float64(len(lines)))
	}
}

// readUntil reads a stream until a text appears.
func readUntil(conn net.Conn, text string) error {
	if err := conn.SetReadDeadline(time.Now().Add(apitest.StreamLimit)); err != nil {
		return err
	}
	var all []byte
	part := make([]byte, 1024)
	for !bytes.Contains(all, []byte(text)) {
		n, err := conn.Read(part)
		if all = append(all, part[:n]...); err != nil && (err != io.EOF || n == 0) { //nolint:errorlint // as Read gives it
			return fmt.Errorf("after %q: %w", all, err)
		}
	}
	return nil
}

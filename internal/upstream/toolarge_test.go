package upstream_test

import (
	"errors"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"testing"

	"github.com/klauspost/compress/gzip"

	"larder.local/internal/upstream"
)

// A menu of 300 MiB needs little more memory than the limit of 64 MiB, and is not read
// completely. The test is not parallel, because it measures allocations.
//
//nolint:paralleltest // it measures the whole process
func TestReadingStopsAtTheMenuLimit(t *testing.T) {
	const size, most = 300 << 20, upstream.MaxMenuBytes
	for name, tc := range map[string]struct {
		gzip, length bool
		status       int
		wire         int64 // bytes that the service can send: those read, and socket buffers
	}{
		"plain":                   {status: http.StatusOK, wire: most + 16<<20},
		"plain, with a length":    {status: http.StatusOK, length: true, wire: 16 << 20},
		"gzip":                    {status: http.StatusOK, gzip: true, wire: 16 << 20},
		"an error, plain":         {status: http.StatusNotFound, wire: 16 << 20},
		"an error, with a length": {status: http.StatusNotFound, length: true, wire: 16 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			var written int64
			done := make(chan struct{})
			client := start(t, &service{handler: func(w http.ResponseWriter, _ *http.Request) {
				defer close(done)
				if tc.length {
					w.Header().Set("Content-Length", strconv.Itoa(size))
				}
				var body io.Writer = writerFunc(func(p []byte) (int, error) {
					n, err := w.Write(p)
					written += int64(n)
					return n, err
				})
				if tc.gzip {
					w.Header().Set("Content-Encoding", "gzip")
					packed, _ := gzip.NewWriterLevel(body, gzip.BestSpeed)
					defer func() { _ = packed.Close() }()
					body = packed
				}
				w.WriteHeader(tc.status)
				block := make([]byte, 1<<20)
				for range size / len(block) {
					if _, err := body.Write(block); err != nil {
						return
					}
				}
			}})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := client.MenuView(t.Context(), "r", upstream.Validator{}, 0)
			runtime.ReadMemStats(&after)
			<-done
			if err == nil || errors.Is(err, upstream.ErrTooLarge) != (tc.status == http.StatusOK) {
				t.Errorf("error %v, want too large: %v", err, tc.status == http.StatusOK)
			}
			// All allocations of the client and the service, even if collected.
			if got := after.TotalAlloc - before.TotalAlloc; got > most+16<<20 {
				t.Errorf("%d MiB were allocated, want little more than the limit of 64 MiB", got>>20)
			}
			if !tc.gzip && written > tc.wire {
				t.Errorf("%d MiB of the body were sent, want at most %d MiB", written>>20, tc.wire>>20)
			}
		})
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

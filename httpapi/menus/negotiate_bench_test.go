package menus

import (
	"net/http"
	"testing"
	"time"

	"larder.local/httpapi/web"
)

// Negotiation must not allocate, because every menu read needs it.
func TestNegotiationAllocatesNothing(t *testing.T) { //nolint:paralleltest // it counts allocations
	modified := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	since := modified.Format(http.TimeFormat)
	for name, read := range map[string]func(){
		"a browser's Accept-Encoding": func() { AcceptedEncodings("gzip, deflate, br, zstd") },
		"weights":                     func() { AcceptedEncodings("GZIP;q=0.5 , br; q=0.8, *;q=0.1, identity;q=0") },
		"a list of tags":              func() { web.ListsETag(`"1-00000000", W/"2-00000000"`, `W/"2-00000000"`) },
		"a time":                      func() { unmodifiedSince(since, modified) },
	} {
		if n := testing.AllocsPerRun(100, read); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkAcceptEncoding(b *testing.B) {
	for _, header := range []string{"gzip", "gzip, deflate, br, zstd", "gzip;q=0.5, br;q=0.8, *;q=0.1"} {
		b.Run(header, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				AcceptedEncodings(header)
			}
		})
	}
}

func BenchmarkIfNoneMatch(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		web.ListsETag(`W/"42-1a2b3c4d"`, `W/"42-1a2b3c4d"`)
	}
}

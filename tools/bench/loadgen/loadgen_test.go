package loadgen

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestHistogramQuantilesAreNearTheExactOnes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, int64(time.Hour)), 1, 200).Draw(t, "values")
		q := rapid.Float64Range(0, 1).Draw(t, "q")
		var h Histogram
		for _, v := range values {
			h.Add(time.Duration(v))
		}
		slices.Sort(values)
		exact := values[max(int(math.Ceil(q*float64(len(values)))), 1)-1]
		got := int64(h.Quantile(q))
		if got < exact || float64(got) > float64(exact)*1.008 {
			t.Fatalf("Quantile(%v) of %v = %d, want %d to 0.8 %% more", q, values, got, exact)
		}
		if h.Count() != len(values) || int64(h.Max()) != values[len(values)-1] {
			t.Fatalf("%d values, longest %d; want %d, %d", h.Count(), h.Max(), len(values), values[len(values)-1])
		}
	})
}

func TestHistogramOfNoneAndBelowZero(t *testing.T) {
	t.Parallel()
	var h Histogram
	if got := h.Quantile(0.99); got != 0 {
		t.Errorf("Quantile of none = %v, want 0", got)
	}
	h.Add(-time.Second)
	h.Add(math.MaxInt64)
	if h.Quantile(0.5) != 0 || h.Quantile(1) != math.MaxInt64 {
		t.Errorf("Quantiles %v and %v, want 0 and the longest there is", h.Quantile(0.5), h.Quantile(1))
	}
}

func TestAnswerEndsWithItsLastByteHoweverItComes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status int
		wire   string
		fault  string
	}{
		"with a body":         {200, "HTTP/1.1 200 OK\r\nETag: x\r\ncontent-length: 5\r\n\r\nabcde", ""},
		"empty body":          {200, "HTTP/1.1 200 OK\r\nContent-Length:0\r\n\r\n", ""},
		"304 has none":        {304, "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", ""},
		"another status":      {304, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", `"200 OK", not 304`},
		"no length":           {200, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "without Content-Length"},
		"an odd length":       {200, "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "no length"},
		"longer than it says": {200, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab", "longer than it says"},
		"no HTTP/1.1":         {200, "SSH-2.0\r\n\r\n", "no answer of HTTP/1.1"},
	} {
		for _, step := range []int{len(tc.wire), 7, 1} {
			a := answer{status: tc.status}
			for round := range 2 { // the same connection goes on
				ended, fault := false, ""
				for rest := tc.wire; len(rest) > 0 && fault == ""; {
					if ended && tc.fault == "" {
						t.Fatalf("%s by %d bytes: ended before its last byte", name, step)
					}
					n := min(step, len(rest))
					done, err := a.take([]byte(rest[:n]))
					if rest = rest[n:]; err != nil {
						fault = err.Error()
					}
					ended = ended || done
				}
				if tc.fault == "" && (!ended || fault != "") {
					t.Errorf("%s by %d bytes, round %d: ended %v, %q", name, step, round, ended, fault)
				}
				if tc.fault != "" {
					// In single bytes, the excess of a response is the start of the next one.
					if !strings.Contains(fault, tc.fault) && (name != "longer than it says" || step > 1) {
						t.Errorf("%s by %d bytes: %q, want %q", name, step, fault, tc.fault)
					}
					break
				}
			}
		}
	}
}

func TestAnswerBoundsItsHead(t *testing.T) {
	t.Parallel()
	a := answer{status: 200}
	for range headMost {
		if _, err := a.take([]byte("HTTP/1.1 ")); err != nil {
			return
		}
	}
	t.Errorf("a head of %d bytes was kept", len(a.head))
}

func TestPlanRefusesWhatMeasuresNothing(t *testing.T) {
	t.Parallel()
	good := Plan{
		Addresses:   []string{"127.0.0.1:1"},
		Requests:    [][]byte{[]byte("x")},
		Status:      200,
		Rate:        1,
		Connections: 1,
		For:         time.Second,
	}
	if err := good.check(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Plan){
		"-1 requests a":  func(p *Plan) { p.Rate = -1 },
		"no address":     func(p *Plan) { p.Addresses = nil },
		"0 connections":  func(p *Plan) { p.Connections = 0 },
		"its warm-up":    func(p *Plan) { p.Warm = p.For },
		"0 requests and": func(p *Plan) { p.Requests = nil },
		"status 0":       func(p *Plan) { p.Status = 0 },
	} {
		bad := good
		change(&bad)
		if _, err := Run(t.Context(), bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestMarksAreReplaced(t *testing.T) {
	t.Parallel()
	for request, want := range map[string]string{
		"plain":               "plain",
		"a " + KeyMark + " b": "a 000000000042 b",
		ValueMark:             "1001",
		"/" + ValueMark + "/pay " + KeyMark + "\r\n\r\n": "/1001/pay 000000000042\r\n\r\n",
		KeyMark + KeyMark: "000000000042000000000042",
	} {
		if got := string(cut([]byte(request)).append(nil, 42, "1001")); got != want {
			t.Errorf("%q: %q, want %q", request, got, want)
		}
	}
}

func TestAnswerKeepsTheBodyOfOneResponse(t *testing.T) {
	t.Parallel()
	a := answer{status: 200, keep: true}
	for _, body := range []string{"first", "2nd", ""} {
		wire := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		for i := range len(wire) {
			done, err := a.take([]byte(wire[i : i+1]))
			if err != nil || done != (i == len(wire)-1) {
				t.Fatalf("%q, byte %d: %v, %v", body, i, done, err)
			}
		}
		if string(a.text) != body {
			t.Errorf("kept %q, want %q", a.text, body)
		}
	}
}

func BenchmarkAnswer(b *testing.B) {
	piece := []byte("HTTP/1.1 200 OK\r\nCache-Control: public, max-age=0\r\nContent-Type: application/json\r\nETag: W/\"1-0123abcd\"\r\nContent-Length: 5\r\n\r\nabcde")
	a := answer{status: 200, head: make([]byte, 0, headMost)}
	b.ReportAllocs()
	for b.Loop() {
		if done, err := a.take(piece); !done || err != nil {
			b.Fatal(done, err)
		}
	}
}

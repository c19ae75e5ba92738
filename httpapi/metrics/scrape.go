package metrics

import (
	"bytes"
	"net/http"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	"golang.org/x/time/rate"
)

// Scrape answers /metrics. After a burst of twenty requests it collects at most ten times a second, and
// other requests get the last answer, so that a stranger's requests cost little (policy H7).
type Scrape struct {
	from prometheus.Gatherer

	mu    sync.Mutex
	fresh *rate.Limiter
	last  map[expfmt.Format][]byte // expfmt.NegotiateAccept returns one of a few formats
}

// NewScrape returns a Scrape of the series of from.
func NewScrape(from prometheus.Gatherer) *Scrape {
	return &Scrape{from: from, fresh: rate.NewLimiter(10, 20), last: map[expfmt.Format][]byte{}}
}

// ServeHTTP implements http.Handler. The answer is not compressed: it is 65 KB every few seconds, and
// gzip would be a fifth of the processor time.
func (s *Scrape) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	format := expfmt.NegotiateAccept(r.Header, expfmt.DefaultAcceptedFormats()...)
	body, err := s.read(format)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", string(format))
	_, _ = bytes.NewReader(body).WriteTo(w) // on an error the client is gone
}

func (s *Scrape) read(format expfmt.Format) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if body, known := s.last[format]; known && !s.fresh.Allow() {
		return body, nil
	}
	families, err := s.from.Gather()
	if err != nil {
		return nil, err
	}
	var body bytes.Buffer
	encoder := expfmt.NewEncoder(&body, format)
	for _, family := range families {
		if err := encoder.Encode(family); err != nil {
			return nil, err
		}
	}
	s.last[format] = body.Bytes()
	return body.Bytes(), nil
}

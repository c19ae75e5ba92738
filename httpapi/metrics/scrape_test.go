package metrics

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
)

// Policy H7: many scrapes collect seldom, and each gets a whole answer in the format that it accepts.
func TestManyScrapesCollectSeldom_H7(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	registry.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "larder_test", Help: "A test."}))
	collected := 0
	var fault error
	s := NewScrape(prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		collected++
		families, _ := registry.Gather()
		return families, fault
	}))
	get := func(accept string) *httptest.ResponseRecorder {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody)
		request.Header.Set("Accept", accept)
		response := httptest.NewRecorder()
		s.ServeHTTP(response, request)
		return response
	}
	const binary = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"
	for range 1000 {
		if got := get("text/plain"); got.Code != http.StatusOK || !strings.HasSuffix(got.Body.String(), "\nlarder_test 0\n") {
			t.Fatalf("%d %s", got.Code, got.Body)
		}
		got := get(binary)
		var family dto.MetricFamily
		err := expfmt.NewDecoder(got.Body, expfmt.ResponseFormat(got.Header())).Decode(&family)
		if err != nil || family.GetName() != "larder_test" {
			t.Fatalf("%v: %v, %v", got.Header(), &family, err)
		}
	}
	if collected < 20 || collected > 100 { // 20 and ten a second
		t.Errorf("2,000 scrapes collect %d times", collected)
	}
	fault = errors.New("a series twice")
	if got := get("text/plain;escaping=allow-utf-8"); got.Code != http.StatusInternalServerError || !strings.Contains(got.Body.String(), "a series twice") {
		t.Errorf("a collector fails: %d %s", got.Code, got.Body)
	}
}

package metrics_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

	"larder.local/httpapi"
	"larder.local/internal/testkit/apitest"
)

// 4,000 guesses of which one is right (policy H8): the right one works, although the limit is exceeded. The others are
// counted, the alert fires, and the log has at most two lines a minute, whatever http.access_log is.
func TestGuessesAreSeen_H8(t *testing.T) {
	t.Parallel()
	for _, route := range []string{"/connect/token", apitest.SessionPath} {
		for _, access := range []httpapi.AccessLog{httpapi.LogErrors, httpapi.LogSampled, httpapi.LogAll} {
			t.Run(fmt.Sprint(route, " with ", access), func(t *testing.T) {
				t.Parallel()
				guesses(t, route, access)
			})
		}
	}
}

func guesses(t *testing.T, route string, access httpapi.AccessLog) {
	t.Helper()
	w := apitest.New(t, func(p *apitest.Plan) { p.HTTP.AccessLog = access })
	client, start, statuses := apitest.Client(t), time.Now(), map[int]int{}
	for i := range 4000 {
		secret := fmt.Sprintf("ops-secret-BBBB-%d-xyzq", i)
		if i == 2222 {
			secret = apitest.Secret(apitest.ClientOps)
		}
		body, media := apitest.SignInBody(apitest.ClientOps, secret), "application/json"
		if route != apitest.SessionPath {
			body = url.Values{"client_id": {apitest.ClientOps}, "client_secret": {secret}, "grant_type": {"client_credentials"}}.Encode()
			media = apitest.FormMedia
		}
		status := guess(t, client, w.URL+route, media, body)
		statuses[status]++
		if (status == http.StatusOK) != (i == 2222) {
			t.Fatalf("guess %d: %d", i, status)
		}
	}
	if statuses[http.StatusUnauthorized]+statuses[http.StatusTooManyRequests] != 3999 || statuses[http.StatusTooManyRequests] < 3900 {
		t.Errorf("statuses %v", statuses)
	}
	text := string(w.Get("/metrics").Is(t, http.StatusOK).Body)
	counted := regexp.MustCompile(`(?m)^larder_auth_failures_total\{route="` + route + `"\} (.*)$`).FindStringSubmatch(text)
	if counted == nil || counted[1] != "3999" {
		t.Fatalf("the metric has %v, want 3999", counted)
	}
	alertFires(t, "LarderAuthFailures", `larder_auth_failures_total{job="larder", route="`+route+`"}`, counted[1])
	failed, requests := 0, 0
	for _, line := range w.Logs.AllEntries() {
		switch line.Data["event"] {
		case "auth.failed":
			failed++
			if line.Level != logrus.WarnLevel || line.Data["address"] != "127.0.0.1" || strings.Contains(fmt.Sprint(line.Data, line.Message), "BBBB") {
				t.Errorf("%s %v", line.Level, line.Data)
			}
		case "http.request":
			requests++
		}
	}
	if most := 2 * (1 + int(time.Since(start)/time.Minute)); failed < 1 || failed > most {
		t.Errorf("%d lines auth.failed, want 1 to %d", failed, most)
	}
	if access == httpapi.LogErrors && requests > 0 {
		t.Errorf("%d lines http.request with %s", requests, access)
	}
}

// guess sends a secret on a kept connection.
func guess(t *testing.T, client *http.Client, address, media, body string) (status int) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", media)
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode
}

// alertFires lets promtool evaluate the expression of an alert, scraped every 15 seconds, for a series that rises from 0
// to a value. The rule must fire after that, also if it is evaluated once a minute, and not before.
func alertFires(t *testing.T, name, series, value string) {
	t.Helper()
	for _, rule := range alerts(t) {
		if rule.Name != name {
			continue
		}
		file := filepath.Join(t.TempDir(), "fires.yaml")
		text := fmt.Sprintf(`evaluation_interval: 1m
tests:
  - interval: 15s
    input_series: [{series: '%s', values: '0x8 %sx40'}]
    promql_expr_test:
      - {expr: 'count(%[3]s)', eval_time: 2m, exp_samples: []}
      - {expr: 'count(%[3]s)', eval_time: 3m, exp_samples: [{labels: '{}', value: 1}]}
      - {expr: 'count(%[3]s)', eval_time: 4m, exp_samples: [{labels: '{}', value: 1}]}
`, series, value, rule.Expr)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		promtool(t, "test", "rules", file)
		return
	}
	t.Errorf("no alert %s", name)
}

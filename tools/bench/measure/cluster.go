package measure

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"larder.local/internal/sleep"
	"larder.local/internal/testkit/metrics"
	"larder.local/internal/testkit/process"
)

// The secrets of the demo, which are used only on loopback.
const (
	opsID, opsSecret     = "ops", "ops-secret"
	storeID, storeSecret = "storefront", "storefront-secret"
	clientSecret         = "demo-secret"
)

// Layout describes a cluster of processes.
type Layout struct {
	// Program is the larder binary, for the sandbox and the replicas.
	Program string
	// Dir contains logs, configuration and Redis's data.
	Dir string
	// Sandbox contains the arguments of `larder sandbox` that select its menus.
	Sandbox []string
	// Restaurants are the ids of the restaurants of those menus.
	Restaurants []string
	// RedisURL and ServiceURL are a running Redis and a running ordering service, which
	// the cluster uses; empty: it starts its own.
	RedisURL, ServiceURL string
	// Rate limits each instance's calls per second to the ordering service; 0 is no
	// limit.
	Rate float64
	// Connections is the number of connections (tenants); the restaurants belong to them
	// in turn. 0 is one.
	Connections int
	// Concurrency is connections[].concurrency, Write is connections[].timeouts.write; 0 is larder's default.
	Concurrency int
	Write       time.Duration
	NoReuse     bool // connections[].timeouts.reuse is 0; needs Write
	// Schedule is the schedule of syncs, such as "@every 2m".
	Schedule string
	// Env contains additional environment variables of the instances.
	Env []string
	// Servers and Others are command prefixes, such as `taskset -c 0`: Servers of
	// Redis and the instances, Others of the ordering service.
	Servers, Others []string
}

// Cluster is an ordering service, a Redis and instances that serve the same
// restaurants, each in its own process.
type Cluster struct {
	Redis   *Redis
	Service *process.Child
	// ServiceURL is the ordering service's address.
	ServiceURL string
	layout     Layout
	config     string
	http       *http.Client
	instances  []*Instance
}

// Instance is one replica.
type Instance struct {
	*process.Child
	URL     string
	name    string
	cluster *Cluster
	// token is the token of the ops client.
	token string
}

var (
	sandboxSays = regexp.MustCompile(`ordering service on (http://\S+)`)
	larderSays  = regexp.MustCompile(`"addr":"([^"]+)","event":"http.listening"`)
)

// listenWithin is the timeout until a process listens.
const listenWithin = time.Minute

// Build starts Redis and the ordering service and writes the configuration of the
// instances. The caller must call Close, also after an error.
func Build(ctx context.Context, layout Layout) (*Cluster, error) {
	t := &Cluster{layout: layout, config: filepath.Join(layout.Dir, "larder.yaml"), http: &http.Client{
		Timeout: callWithin, Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true},
	}}
	if err := t.build(ctx); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

func (t *Cluster) build(ctx context.Context) (err error) {
	redisURL := t.layout.RedisURL
	if redisURL == "" {
		if t.Redis, err = StartRedis(ctx, t.layout.Dir, t.layout.Servers...); err != nil {
			return err
		}
		redisURL = t.Redis.URL
	}
	if t.ServiceURL = t.layout.ServiceURL; t.ServiceURL == "" {
		if t.Service, t.ServiceURL, err = StartService(ctx, t.layout); err != nil {
			return err
		}
	}
	return os.WriteFile(t.config, t.configuration(redisURL), 0o600)
}

// StartService starts the layout's ordering service and returns its address. The
// caller must stop the process, also after an error, if it is not nil.
func StartService(ctx context.Context, layout Layout) (service *process.Child, url string, err error) {
	arguments := append([]string{"sandbox", "--listen", "127.0.0.1:0", "--log-level", "error"}, layout.Sandbox...)
	words := slices.Concat(layout.Others, []string{layout.Program}, arguments)
	if service, err = process.Start(ctx, layout.Dir, "sandbox", nil, words[0], words[1:]...); err != nil {
		return nil, "", err
	}
	waiting, cancel := context.WithTimeout(ctx, listenWithin)
	defer cancel()
	url, err = service.Await(waiting, sandboxSays)
	return service, url, err
}

// configuration returns the instances' configuration: defaults, and what a measurement needs.
func (t *Cluster) configuration(redisURL string) []byte {
	var text bytes.Buffer
	fmt.Fprintf(&text, "http: {listen: \"127.0.0.1:0\", access_log: errors, metrics: open}\nredis: {url: %q}\nconnections:\n", redisURL)
	more, only := "", ", connection: main"
	if t.layout.Concurrency > 0 {
		more += fmt.Sprintf(", concurrency: %d", t.layout.Concurrency)
	}
	if t.layout.Write > 0 {
		reuse := ""
		if t.layout.NoReuse {
			reuse = ", reuse: 0s"
		}
		more += fmt.Sprintf(", timeouts: {write: %v%s}", t.layout.Write, reuse)
	}
	if t.layout.Connections > 1 {
		only = "" // the client sees all connections
	}
	for i := range max(t.layout.Connections, 1) {
		fmt.Fprintf(&text, "  - {name: %s, base_url: %q, auth_url: %q, client_id: demo, client_secret: %s, default_menu: false, rate: %g%s}\n",
			connectionName(i), t.ServiceURL, t.ServiceURL, clientSecret, t.layout.Rate, more)
	}
	fmt.Fprintf(&text, `sync: {schedule: %q}
auth:
  clients:
    - {id: %s, secret: %s, scopes: [menu, orders]%s}
    - {id: %s, secret: %s, scopes: [menu, orders, ops]}
restaurants:
`, t.layout.Schedule, storeID, storeSecret, only, opsID, opsSecret)
	for i, id := range t.layout.Restaurants {
		fmt.Fprintf(&text, "  - {id: %s, connection: %s}\n", id, connectionName(i%max(t.layout.Connections, 1)))
	}
	return text.Bytes()
}

// connectionName returns the name of the n-th connection, from 0.
func connectionName(n int) string {
	if n == 0 {
		return "main"
	}
	return fmt.Sprintf("other-%d", n)
}

// Add starts an instance with additional environment variables, and returns when it
// listens.
func (t *Cluster) Add(ctx context.Context, env ...string) (*Instance, error) {
	name := fmt.Sprintf("larder-%d", len(t.instances)+1)
	env = slices.Concat([]string{"LARDER_HTTP_LISTEN=127.0.0.1:0"}, t.layout.Env, env)
	words := slices.Concat(t.layout.Servers, []string{t.layout.Program, "serve", "--config", t.config, "--log-format", "json"})
	child, err := process.Start(ctx, t.layout.Dir, name, env, words[0], words[1:]...)
	if err != nil {
		return nil, err
	}
	l := &Instance{Child: child, name: name, cluster: t}
	t.instances = append(t.instances, l)
	waiting, cancel := context.WithTimeout(ctx, listenWithin)
	defer cancel()
	address, err := child.Await(waiting, larderSays)
	l.URL = "http://" + address
	return l, err
}

// Close ends every process; the instances shut down gracefully, at the same time.
func (t *Cluster) Close() {
	var stopping sync.WaitGroup
	for _, l := range t.instances {
		stopping.Go(l.Stop)
	}
	stopping.Wait()
	if t.Service != nil {
		t.Service.Stop()
	}
	if t.Redis != nil {
		t.Redis.Close()
	}
	t.http.CloseIdleConnections()
}

// callWithin is the timeout of one request.
const callWithin = 90 * time.Second

// Answer is a response.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Ask sends one request; headers are pairs of name and value.
func (t *Cluster) Ask(ctx context.Context, method, url, body string, headers ...string) (Answer, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return Answer{}, err
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := t.http.Do(request)
	if err != nil {
		return Answer{}, err
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	return Answer{response.StatusCode, response.Header, content}, err
}

// get requires status 200 and decodes the response.
func (t *Cluster) get(ctx context.Context, url string, into any) error {
	answer, err := t.Ask(ctx, http.MethodGet, url, "")
	if err != nil {
		return err
	}
	if answer.Status != http.StatusOK {
		return fmt.Errorf("measure: %s answered %d: %.200s", url, answer.Status, answer.Body)
	}
	if err := json.Unmarshal(answer.Body, into); err != nil {
		return fmt.Errorf("measure: answer of %s: %w", url, err)
	}
	return nil
}

// menuCalls returns the number of menu requests to the ordering service.
func (t *Cluster) menuCalls(ctx context.Context) (int, error) {
	return t.Calls(ctx, "GET /orders/api/v1/menu/view")
}

// Calls returns the number of requests of an operation to the ordering service.
func (t *Cluster) Calls(ctx context.Context, operation string) (int, error) {
	var counters struct {
		Result struct{ Calls map[string]int }
	}
	err := t.get(ctx, t.ServiceURL+"/sandbox/counters", &counters)
	return counters.Result.Calls[operation], err
}

// Sample reads the instance's metrics.
func (l *Instance) Sample(ctx context.Context) (metrics.Sample, error) {
	answer, err := l.cluster.Ask(ctx, http.MethodGet, l.URL+"/metrics", "")
	if err != nil {
		return nil, err
	}
	if answer.Status != http.StatusOK {
		return nil, fmt.Errorf("measure: /metrics of %s answered %d", l.name, answer.Status)
	}
	return metrics.Parse(string(answer.Body)), nil
}

// Ready waits until /readyz returns 200.
func (l *Instance) Ready(ctx context.Context) error {
	for {
		answer, err := l.cluster.Ask(ctx, http.MethodGet, l.URL+"/readyz", "")
		if err == nil && answer.Status == http.StatusOK {
			return nil
		}
		if alive := l.Alive(); alive != nil {
			return alive
		}
		if err := sleep.For(ctx, 2*time.Millisecond); err != nil {
			return fmt.Errorf("measure: %s was not ready: %w", l.name, err)
		}
	}
}

// bearer returns a token of the ops client, and requests it once.
func (l *Instance) bearer(ctx context.Context) (token string, err error) {
	if l.token == "" {
		l.token, err = l.cluster.tokenOf(ctx, l.URL, opsID, opsSecret)
	}
	return l.token, err
}

// Token returns a new token of the client that places orders. It is valid at all
// instances with the same Redis.
func (l *Instance) Token(ctx context.Context) (string, error) {
	return l.cluster.tokenOf(ctx, l.URL, storeID, storeSecret)
}

// ServiceToken returns a new token of the ordering service.
func (t *Cluster) ServiceToken(ctx context.Context) (string, error) {
	return t.tokenOf(ctx, t.ServiceURL, "demo", clientSecret)
}

// tokenOf requests a token.
func (t *Cluster) tokenOf(ctx context.Context, url, id, secret string) (string, error) {
	form := "grant_type=client_credentials&client_id=" + id + "&client_secret=" + secret
	answer, err := t.Ask(ctx, http.MethodPost, url+"/connect/token", form, "Content-Type", "application/x-www-form-urlencoded")
	if err != nil {
		return "", err
	}
	var token struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal(answer.Body, &token); err != nil || token.AccessToken == "" {
		return "", fmt.Errorf("measure: no token of %s for %s: %d %.200s", url, id, answer.Status, answer.Body)
	}
	return token.AccessToken, nil
}

// Sync syncs a restaurant's menu and returns the run's outcome.
func (l *Instance) Sync(ctx context.Context, restaurant string) (string, error) {
	token, err := l.bearer(ctx)
	if err != nil {
		return "", err
	}
	answer, err := l.cluster.Ask(ctx, http.MethodPost, l.URL+"/v1/ops/restaurants/"+restaurant+"/sync?wait=30s", "", "Authorization", "Bearer "+token)
	if err != nil {
		return "", err
	}
	var run struct {
		Result struct{ Outcome, Error string }
	}
	if err := json.Unmarshal(answer.Body, &run); err != nil || answer.Status >= http.StatusBadRequest {
		return "", fmt.Errorf("measure: sync of %s: %d %.200s", restaurant, answer.Status, answer.Body)
	}
	return run.Result.Outcome, nil
}

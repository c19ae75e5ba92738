package compare

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"larder.local/internal/sleep"
	"larder.local/internal/testkit/process"
	"larder.local/tools/bench/measure"
)

const (
	startWithin = time.Minute
	callWithin  = time.Minute
	pollPause   = 20 * time.Millisecond
	// storefront and operator are the clients of the plan, and their secrets.
	storefront, storefrontSecret = "storefront", "qzVhwR4mT9cLxN2b" //nolint:gosec // G101: of a Redis that ends with the run
	operator, operatorSecret     = "ops", "Jw7sPd0eKf3gYu8h"        //nolint:gosec // G101: as above
)

// side is one build with its own Redis and its own ordering service.
type side struct {
	name    string
	program string
	dir     string
	config  string
	env     []string
	service *service
	redis   *measure.Redis
	larder  *process.Child
	address string
	tokens  map[string]string
	http    *http.Client
}

var listening = regexp.MustCompile(`"addr":"([^"]+)","event":"http.listening"`)

// startSide starts a build. The caller must call close, also after an error.
func startSide(ctx context.Context, name, program, dir string, env []string) (*side, error) {
	s := &side{
		name: name, program: program, dir: filepath.Join(dir, name), tokens: map[string]string{},
		http: &http.Client{Timeout: callWithin, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
	s.config = filepath.Join(s.dir, "larder.yaml")
	err := os.MkdirAll(filepath.Join(s.dir, "redis"), 0o700)
	if err != nil {
		return s, err
	}
	if s.service, err = startService(ctx); err != nil {
		return s, err
	}
	if s.redis, err = measure.StartRedis(ctx, filepath.Join(s.dir, "redis")); err != nil {
		return s, err
	}
	if err := os.WriteFile(s.config, []byte(s.configuration()), 0o600); err != nil {
		return s, err
	}
	s.env = env
	for _, restaurant := range restaurants() {
		s.service.setMenu(restaurant, []byte(emptyMenu))
	}
	return s, nil
}

// configuration returns the file of this side. Nothing is limited by time, so that the same
// requests get the same answers: the random pauses of four attempts (at most 1.4s) end
// within two thirds of timeouts.write.
func (s *side) configuration() string {
	var list strings.Builder
	for _, restaurant := range restaurants() {
		fmt.Fprintf(&list, "  - {id: %s, connection: main, time_zone: Europe/Lisbon}\n", restaurant)
	}
	return fmt.Sprintf(`http:
  listen: "127.0.0.1:0"
  access_log: errors
  metrics: open
  rate: {validate: "0", place: "0", token_failures: "0", sign_in_failures: "0", address_failures: "0"}
redis: {url: %q}
connections:
  - name: main
    base_url: %q
    auth_url: %q
    client_id: comparison
    client_secret: Bn5kQe1zRt6yVu0i
    default_menu: true
    timeouts: {write: 4s}
sync: {schedule: "0 0 1 1 *"}
ordering: {place_timeout: 5s}
auth:
  clients:
    - {id: %s, secret: %s, scopes: [menu, orders], connection: main}
    - {id: %s, secret: %s, scopes: [menu, orders, ops]}
restaurants:
%s`, s.redis.URL, s.service.url(), s.service.url(), storefront, storefrontSecret, operator, operatorSecret, list.String())
}

// serve starts larder and gets the tokens of both clients.
func (s *side) serve(ctx context.Context) (err error) {
	if s.larder, err = process.Start(ctx, s.dir, "larder", s.env, s.program, "serve", "--config", s.config, "--log-format", "json"); err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	if s.address, err = s.larder.Await(waiting, listening); err != nil {
		return err
	}
	for id, secret := range map[string]string{storefront: storefrontSecret, operator: operatorSecret} {
		form := url.Values{"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {secret}}
		answer := s.send(ctx, request{Method: http.MethodPost, Path: "/connect/token", Type: "application/x-www-form-urlencoded", Body: []byte(form.Encode())})
		var found struct {
			Token string `json:"access_token"`
		}
		if err := json.Unmarshal([]byte(answer.Body), &found); err != nil || found.Token == "" {
			return fmt.Errorf("compare: %s: token of %s: %s: %w", s.name, id, answer, err)
		}
		s.tokens[id] = found.Token
	}
	return nil
}

// awaitMenu waits until larder serves the menu that it has fetched by itself.
func (s *side) awaitMenu(ctx context.Context, restaurant string) error {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	for {
		if s.send(ctx, request{Method: http.MethodGet, Path: "/v1/restaurants/" + restaurant + "/menu", Client: operator}).Status == http.StatusOK {
			return nil
		}
		if err := sleep.For(ctx, pollPause); err != nil {
			return fmt.Errorf("compare: %s serves no menu of %s: %w", s.name, restaurant, err)
		}
	}
}

func (s *side) close() {
	if s.larder != nil {
		s.larder.Kill()
	}
	if s.redis != nil {
		s.redis.Close()
	}
	if s.service != nil {
		s.service.close()
	}
}

// request is one HTTP request to larder.
type request struct {
	Method, Path, Type string
	Client             string // whose token; empty: none
	Key                string
	Body               []byte
}

// answer is what larder answered.
type answer struct {
	Status int
	Header http.Header
	Body   string
	Failed string // why there is no response
}

func (a answer) String() string {
	if a.Failed != "" {
		return a.Failed
	}
	return fmt.Sprintf("%d %s", a.Status, strings.TrimSpace(a.Body))
}

// send sends a request to larder.
func (s *side) send(ctx context.Context, r request) answer {
	made, err := http.NewRequestWithContext(ctx, r.Method, "http://"+s.address+r.Path, bytes.NewReader(r.Body))
	if err != nil {
		return answer{Failed: err.Error()}
	}
	if r.Type == "" && len(r.Body) > 0 {
		r.Type = "application/json"
	}
	for name, value := range map[string]string{"Content-Type": r.Type, "Idempotency-Key": r.Key} {
		if value != "" {
			made.Header.Set(name, value)
		}
	}
	if r.Client != "" {
		made.Header.Set("Authorization", "Bearer "+s.tokens[r.Client])
	}
	response, err := s.http.Do(made)
	if err != nil {
		return answer{Failed: err.Error()}
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{Failed: err.Error()}
	}
	return answer{Status: response.StatusCode, Header: response.Header, Body: string(body)}
}

// run runs a command of this build and returns its output and how it ended.
func (s *side) run(ctx context.Context, env []string, arguments ...string) string {
	ctx, cancel := context.WithTimeout(ctx, callWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.program, arguments...) //nolint:gosec // G204: it runs the two builds
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), env...)
	output, err := cmd.CombinedOutput()
	status := 0
	if err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			return err.Error()
		}
		status = exit.ExitCode()
	}
	return fmt.Sprintf("%s\nexit status %d", output, status)
}

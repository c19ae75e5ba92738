package peers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"larder.local/internal/sleep"
	"larder.local/internal/testkit/process"
	"larder.local/tools/bench/answers"
	"larder.local/tools/bench/measure"
)

// The names of the servers in the tables.
const (
	ourName      = "larder"
	netHTTPName  = "larder on net/http alone"
	baselineName = "bare epoll loop"
	staticName   = "nginx static"
	proxyName    = "nginx proxy_cache"
	tunedName    = "nginx proxy_cache, tuned"
	haproxyName  = "HAProxy cache"
	varnishName  = "Varnish"
	ginName      = "Gin, ready bytes"
	redisName    = "Gin + go-redis GET"
	originName   = "origin"
	bindName     = "Gin ShouldBindJSON + constant"
)

// server is a running server.
type server struct {
	name    string
	address string // host:port
	// processes are the processes whose CPU time, with that of their children, is the
	// server's.
	processes []int
}

// listens matches the output of the peer program.
var listens = regexp.MustCompile(`listening on (\S+)`)

// startWithin is the timeout until a server responds.
const startWithin = 20 * time.Second

// own starts one of the servers of the peer program.
func (s *testbed) own(ctx context.Context, name, role, file string, more ...string) error {
	words := slices.Concat(s.servers, []string{s.Program, role, "--answers", file}, more)
	child, err := s.start(ctx, role, words)
	if err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	address, err := child.Await(waiting, listens)
	if err != nil {
		return err
	}
	processes := []int{child.PID()}
	if role == answers.GinRedis {
		processes = append(processes, s.redis.PID())
	}
	s.add(name, address, processes...)
	return nil
}

// smallBytes is the length below which nginx is faster without sendfile.
const smallBytes = 32 << 10

// foreign starts an installed server with a configuration file.
func (s *testbed) foreign(ctx context.Context, name, text string, words func(file string, set setting) []string) error {
	short := folder(name)
	set := setting{
		Dir:     filepath.Join(s.dir, short),
		Origin:  s.origin,
		Threads: s.threads,
		Root:    os.Geteuid() == 0,
		Answers: s.files,
		Tuned:   name == tunedName,
	}
	for _, a := range s.files {
		if info, err := os.Stat(a.File); err == nil && info.Size() < smallBytes {
			set.Small = append(set.Small, a.Path)
		}
	}
	if err := os.MkdirAll(set.Dir, 0o700); err != nil {
		return err
	}
	var err error
	if set.Port, err = measure.FreePort(ctx); err != nil {
		return err
	}
	content, err := render(text, set)
	if err != nil {
		return err
	}
	file := filepath.Join(set.Dir, "configuration")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		return err
	}
	command := words(file, set)
	if command[0], err = program(command[0]); err != nil {
		return err
	}
	child, err := s.start(ctx, short, slices.Concat(s.servers, command))
	if err != nil {
		return err
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(set.Port))
	s.add(name, address, child.PID())
	return s.accepts(ctx, child, address)
}

// folder converts a name to that of a folder or a file.
func folder(name string) string {
	return strings.NewReplacer(" ", "-", "/", "-", ",", "", "+", "and").Replace(strings.ToLower(name))
}

// start starts a process that ends with the testbed.
func (s *testbed) start(ctx context.Context, name string, words []string) (*process.Child, error) {
	child, err := process.Start(ctx, s.dir, name, nil, words[0], words[1:]...)
	if err == nil {
		s.children = append(s.children, child)
	}
	return child, err
}

func (s *testbed) add(name, address string, processes ...int) {
	s.running[name] = server{name: name, address: address, processes: processes}
}

// accepts waits until the address accepts connections.
func (s *testbed) accepts(ctx context.Context, child *process.Child, address string) error {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	for {
		connection, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err == nil {
			return connection.Close()
		}
		if alive := child.Alive(); alive != nil {
			return alive
		}
		if sleep.For(ctx, 20*time.Millisecond) != nil {
			return fmt.Errorf("nobody listens on %s within %v: %w", address, startWithin, err)
		}
	}
}

// program looks up a program in PATH and in the folders of servers.
func program(name string) (string, error) {
	for _, candidate := range []string{name, "/usr/sbin/" + name, "/usr/local/sbin/" + name} {
		if path, err := exec.LookPath(candidate); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is neither in the PATH nor in /usr/sbin: install what is compared, as with  tools/test-needs peers", name)
}

// ask sends one request of a scenario and returns the response.
func ask(ctx context.Context, client *http.Client, e Scenario, address, path string, header [][2]string) (measure.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, e.Method, "http://"+address+path, strings.NewReader(string(e.Body)))
	if err != nil {
		return measure.Answer{}, err
	}
	for _, h := range header {
		request.Header.Add(h[0], h[1])
	}
	response, err := client.Do(request)
	if err != nil {
		return measure.Answer{}, err
	}
	body, err := io.ReadAll(response.Body)
	return measure.Answer{Status: response.StatusCode, Header: response.Header, Body: body}, errors.Join(err, response.Body.Close())
}

// headLength returns the length of a response's head as sent.
func headLength(a measure.Answer) int {
	n := len("HTTP/1.1 200 \r\n\r\n") + len(http.StatusText(a.Status))
	for name, values := range a.Header {
		for _, value := range values {
			n += len(name) + len(value) + len(": \r\n")
		}
	}
	return n
}

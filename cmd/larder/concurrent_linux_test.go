package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"larder/internal/testkit/clitest"
)

// requestsAtOnce is how many anonymous requests TestConcurrentAnonymousRequests
// sends at a time; make concurrent sends 1,000.
var requestsAtOnce = flag.Int("at-once", 250, "how many requests TestConcurrentAnonymousRequests sends at a time")

// Policy H7: many requests at once for what is most expensive to make raise the
// memory of a real process by at most 64 MiB, and it goes on answering.
func TestConcurrentAnonymousRequests(t *testing.T) { //nolint:paralleltest // it measures a process, and times its answers
	const (
		mostMemory = 64 << 20
		longest    = time.Second
		attempts   = 3 // the machine may be busy with something else
	)
	for _, request := range []string{
		"GET / HTTP/1.1\r\nHost: larder\r\nAccept-Encoding: br\r\nConnection: close\r\n\r\n",
		"GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: larder\r\nConnection: close\r\n\r\n",
	} {
		p := startProcess(t, newService(t).env("LARDER_HTTP_PAGE_ENABLED=true"), "serve") // one that has grown would hide what comes next
		base := p.url(t)
		waitReady(t, base)
		var first, begun sync.WaitGroup
		first.Add(1)
		begun.Add(1)
		if err := sendRaw(base, request, &first, &begun); err != nil { // the first computation
			t.Fatal(err)
		}
		memory, wait := burst(t, p, base, request)
		for range attempts - 1 {
			if wait > longest { // what a process has taken it keeps for a while: the first burst tells of its memory
				_, again := burst(t, p, base, request)
				wait = min(wait, again)
			}
		}
		t.Logf("%d × %.30q: %d MiB more, /livez within %v", *requestsAtOnce, request, memory>>20, wait)
		if memory > mostMemory || wait > longest {
			t.Errorf("%d × %.30q took %d MiB more, and /livez up to %v; at most %d MiB and %v are allowed",
				*requestsAtOnce, request, memory>>20, wait, mostMemory>>20, longest)
		}
	}
}

// burst sends a request over many connections at once. It returns how much the
// process's memory rose at its peak, and the longest wait for /livez meanwhile.
func burst(t *testing.T, p *process, base, request string) (memory int64, wait time.Duration) {
	t.Helper()
	folder := fmt.Sprintf("/proc/%d/", p.cmd.Process.Pid)
	if err := os.WriteFile(folder+"clear_refs", []byte("5"), 0o200); err != nil { // the peak starts from here
		t.Fatal(err)
	}
	before := memoryOf(t, folder, "VmRSS")
	done := make(chan error, 1)
	go func() {
		var all errgroup.Group
		var connected, answered sync.WaitGroup
		connected.Add(*requestsAtOnce)
		answered.Add(*requestsAtOnce)
		for range *requestsAtOnce {
			all.Go(func() error { return sendRaw(base, request, &connected, &answered) })
		}
		done <- all.Wait()
	}()
	for {
		start := time.Now()
		if status, _ := clitest.Fetch(t, base+"/livez"); status != http.StatusOK {
			t.Fatalf("/livez: status %d", status)
		}
		wait = max(wait, time.Since(start))
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			return memoryOf(t, folder, "VmHWM") - before, wait
		default:
		}
	}
}

// sendRaw sends one request on a connection of its own when all are connected,
// and reads how the answer begins. It keeps the connection until all others have
// come as far, and does not read the rest: the process holds what it has to
// send, since the kernel takes little of it for a window as small as this.
func sendRaw(base, request string, connected, answered *sync.WaitGroup) error {
	dialer := net.Dialer{Timeout: clitest.WaitLimit, Control: func(_, _ string, socket syscall.RawConn) (err error) {
		_ = socket.Control(func(fd uintptr) { err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096) })
		return err
	}}
	conn, err := dialer.Dial("tcp", strings.TrimPrefix(base, "http://"))
	connected.Done()
	if err != nil {
		answered.Done()
		return err
	}
	defer func() { _ = conn.Close() }()
	connected.Wait()
	status := make([]byte, len("HTTP/1.1 200"))
	if _, err = io.WriteString(conn, request); err == nil {
		_, err = io.ReadFull(conn, status)
	}
	answered.Done()
	answered.Wait()
	if err == nil && !bytes.HasSuffix(status, []byte("200")) {
		err = fmt.Errorf("%.40q: %s", request, status)
	}
	return err
}

// memoryOf reads a figure of a process's status, in bytes.
func memoryOf(t *testing.T, folder, name string) int64 {
	t.Helper()
	text, err := os.ReadFile(folder + "status")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(name + `:\s+(\d+) kB`).FindSubmatch(text)
	if found == nil {
		t.Fatalf("no %s in %s", name, text)
	}
	kib, err := strconv.ParseInt(string(found[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kib << 10
}

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	diff "github.com/google/go-cmp/cmp"

	"larder.local/internal/testkit/clitest"
)

// blocksOf returns the code blocks of a language in a page of docs/.
func blocksOf(t *testing.T, name, language string) []string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for _, match := range regexp.MustCompile("(?s)\n```"+language+"\n(.*?)\n```\n").FindAllStringSubmatch(string(page), -1) {
		blocks = append(blocks, match[1])
	}
	return blocks
}

// startBackend starts the backend of docs/storefront.md in this language, with only
// addresses changed, and returns the address that takes orders of the site's pages.
func startBackend(t *testing.T, language, base, site string) (orderURL string, said *clitest.Watched) {
	t.Helper()
	blocks := blocksOf(t, "storefront.md", language)
	if len(blocks) != 1 {
		t.Fatalf("%d blocks of %s in docs/storefront.md, want 1", len(blocks), language)
	}
	for range 5 {
		address := freeAddress(t)
		text := strings.NewReplacer("http://127.0.0.1:8080", base, "http://127.0.0.1:3000", site,
			"127.0.0.1:3001", address, `listen(3001, "127.0.0.1")`, listenOn(address)).Replace(blocks[0])
		cmd := backendCommand(t, language, text)
		said = clitest.NewWatched()
		cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), "LARDER_SECRET=storefront-secret"), said, said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		exited := make(chan struct{})
		go func() { _ = cmd.Wait(); close(exited) }() // returns an error: the cleanup kills it
		t.Cleanup(func() { _ = cmd.Process.Kill(); <-exited })
		if listens(t, address, exited) {
			return "http://" + address + "/order", said
		}
		t.Logf("another program took the address %s before the backend listened on it:\n%s", address, said)
	}
	t.Fatalf("the backend in %s does not listen:\n%s", language, said)
	return "", nil
}

// backendCommand returns the command that runs a backend, after it has compiled it.
func backendCommand(t *testing.T, language, text string) *exec.Cmd {
	t.Helper()
	if language == "js" {
		return exec.CommandContext(t.Context(), installed(t, "node"), clitest.WriteFile(t, "backend.mjs", text))
	}
	program := filepath.Join(t.TempDir(), "backend")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", program, clitest.WriteFile(t, "backend.go", text))
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as larder is built, with the same compiled standard library
	if printed, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	return exec.CommandContext(t.Context(), program)
}

// listens waits until a program accepts connections at an address, and returns false if the program has exited: while
// it was compiled, another program may have taken the address.
func listens(t *testing.T, address string, exited <-chan struct{}) bool {
	t.Helper()
	clitest.Eventually(t, "a program listens on "+address, func() bool {
		select {
		case <-exited:
			return true
		default:
		}
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	select {
	case <-exited:
		return false
	default:
		return true
	}
}

// shopOrigin is the origin of a page in tests without a browser.
const shopOrigin = "https://shop.example"

// TestStorefrontBackends orders through the backends of docs/storefront.md like the
// form: with requests that contain no secret.
func TestStorefrontBackends(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"js", "go"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			base, kitchen, _ := runningDemo(t)
			orderURL, said := startBackend(t, language, base, shopOrigin)
			orderThrough(t, orderURL, kitchen, said)
			refuses(t, orderURL)
		})
	}
}

// TestStorefrontBackendsWithoutToken checks that the backends log why larder gives them no token,
// and return a status after which the form retries.
func TestStorefrontBackendsWithoutToken(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"js", "go"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			larder := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusUnauthorized)
			}))
			t.Cleanup(larder.Close)
			orderURL, said := startBackend(t, language, larder.URL, shopOrigin)
			if status, body := postAsForm(t, orderURL, "a-key-of-a-guest-with-24-letters", "{}", said); status < http.StatusInternalServerError {
				t.Errorf("status %d, want 500 or above: %s", status, body)
			}
			clitest.Eventually(t, "the backend logs the status", func() bool { return strings.Contains(said.String(), "401") })
		})
	}
}

// refuses checks what a backend answers to requests that are not orders of its sites.
func refuses(t *testing.T, orderURL string) {
	t.Helper()
	for _, try := range []struct {
		method, url, origin string
		status              int
	}{
		{http.MethodOptions, orderURL, shopOrigin, http.StatusNoContent},
		{http.MethodOptions, orderURL, "https://other.example", http.StatusForbidden},
		{http.MethodPost, orderURL, "https://other.example", http.StatusForbidden},
		{http.MethodGet, orderURL, shopOrigin, http.StatusMethodNotAllowed},
		{http.MethodPost, orderURL + "/favicon.ico", shopOrigin, http.StatusNotFound},
	} {
		request, err := http.NewRequestWithContext(t.Context(), try.method, try.url, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Origin", try.origin)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		allowed := response.Header.Get("Access-Control-Allow-Origin")
		if response.StatusCode != try.status || (allowed == shopOrigin) != (try.status == http.StatusNoContent) {
			t.Errorf("%s %s from %s: %d, allows %q, want %d", try.method, try.url, try.origin, response.StatusCode, allowed, try.status)
		}
	}
}

// freeAddress returns an address of this machine that is not in use. On Linux, all of 127.0.0.0/8 is loopback: the host
// is a random one, so that no other test takes the port before the caller's program listens on it.
func freeAddress(t *testing.T) string {
	t.Helper()
	host := "127.0.0.1"
	if runtime.GOOS == "linux" {
		host = fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }() // no connection was accepted
	return listener.Addr().String()
}

// listenOn is the line with the listen address of the program in Node.
func listenOn(address string) string {
	host, port, _ := net.SplitHostPort(address)
	return "listen(" + port + `, "` + host + `")`
}

// orderThrough places orders like the form: two with the same key, and an invalid one.
func orderThrough(t *testing.T, orderURL, kitchen string, said *clitest.Watched) {
	t.Helper()
	const good = `{"expeditionType":"pickup","soonest":true,"paymentTypeID":"card","dishList":[{"ID":"dish-roast-beef","quantity":1}]}`
	var first, again, wrong struct {
		Result struct {
			OrderID string `json:"orderID"`
			State   string `json:"state"`
		} `json:"result"`
		Errors []struct {
			Code string `json:"code"`
			Msg  string `json:"msg"`
		} `json:"errors"`
	}
	for _, try := range []struct {
		key, body string
		status    int
		into      any
	}{
		{"one-and-the-same-key-of-a-guest", good, http.StatusCreated, &first},
		{"one-and-the-same-key-of-a-guest", good, http.StatusCreated, &again},
		{"another-key-of-the-same-guest", strings.Replace(good, "dish-roast-beef", "no-such-dish", 1), http.StatusUnprocessableEntity, &wrong},
	} {
		if status, body := postAsForm(t, orderURL, try.key, try.body, said); status != try.status {
			t.Fatalf("%s: %d, want %d\n%s\n%s", try.key, status, try.status, body, said)
		} else if err := json.Unmarshal(body, try.into); err != nil {
			t.Fatalf("%s: %v\n%s", try.key, err, body)
		}
	}
	if first.Result.State != "placed" || first.Result.OrderID == "" || diff.Diff(first, again) != "" {
		t.Errorf("placed as %+v, and with the same key again as %+v", first, again)
	}
	if len(wrong.Errors) != 1 || wrong.Errors[0].Code != "dish_not_in_menu" || !strings.ContainsAny(wrong.Errors[0].Msg, "абвгдежзиклмнопрстуя") {
		t.Errorf("the violations are %+v, want dish_not_in_menu in Russian", wrong.Errors)
	}
	var orders struct{ Result []json.RawMessage }
	if status, body := clitest.Fetch(t, kitchen+"/sandbox/orders"); status != http.StatusOK {
		t.Errorf("%d: %s", status, body)
	} else if err := json.Unmarshal([]byte(body), &orders); err != nil || len(orders.Result) != 1 {
		t.Errorf("the kitchen has %d orders (%v), want 1", len(orders.Result), err)
	}
}

// postAsForm sends an order like the components. It retries until the backend listens.
func postAsForm(t *testing.T, orderURL, key, body string, said *clitest.Watched) (status int, answer []byte) {
	t.Helper()
	var response *http.Response
	clitest.Eventually(t, "the backend answers", func() bool {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, orderURL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"Content-Type": "application/json", "Idempotency-Key": key, "Accept-Language": "ru", "Origin": shopOrigin} {
			request.Header.Set(name, value)
		}
		response, err = http.DefaultClient.Do(request) //nolint:bodyclose // it is closed below
		return err == nil
	})
	answer, err := io.ReadAll(response.Body)
	if closed := response.Body.Close(); err != nil || closed != nil {
		t.Fatalf("%v, %v\n%s", err, closed, said)
	}
	return response.StatusCode, answer
}

// TestBrowserOrigin runs tools/browser/origin: the page of docs/storefront.md and the form of docs/order-form.md on
// another origin than larder. Orders go to larder and through both backends of storefront.md.
func TestBrowserOrigin(t *testing.T) { //nolint:tparallel // its scenarios share a demo
	t.Parallel()
	b := newBrowser(t)
	site := freeAddress(t)
	b.env = browsedDemo(t, "--origin", "http://"+site)
	base := strings.TrimPrefix(b.env[0], "LARDER_URL=")
	html := strings.ReplaceAll(blocksOf(t, "storefront.md", "html")[0], "http://127.0.0.1:8080", base)
	pages := http.NewServeMux()
	serve := func(path, page string) { // ?old= and ?new= change the page
		pages.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			query := r.URL.Query()
			_, _ = strings.NewReplacer(cmp.Or(query.Get("old"), "\x00"), query.Get("new")).WriteString(w, page) // if this fails, the browser has left
		})
	}
	serve("/{$}", html)
	serve("/form", strings.ReplaceAll(blocksOf(t, "order-form.md", "html")[0], "http://127.0.0.1:8080", base))
	for _, language := range []string{"js", "go"} {
		orderURL, _ := startBackend(t, language, base, "http://"+site)
		serve("/"+language, strings.Replace(html, "<larder-order-form ", `<larder-order-form order-url="`+orderURL+`" `, 1))
		b.env = append(b.env, "LARDER_BACKEND_"+strings.ToUpper(language)+"="+orderURL)
	}
	for _, host := range []string{site, "127.0.0.1:0"} { // the second origin is not allowed
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: pages, ReadHeaderTimeout: time.Minute}}
		server.Start()
		t.Cleanup(server.Close)
		b.env = append(b.env, map[bool]string{true: "LARDER_SITE=", false: "LARDER_OTHER_SITE="}[host == site]+server.URL)
	}
	b.run(t, "origin")
}

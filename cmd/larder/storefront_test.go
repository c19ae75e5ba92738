package main

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larder/internal/testkit/clitest"
)

// TestStorefrontBackends runs the backends of docs/storefront.md, with only addresses
// changed, and orders through them like the form: with requests that contain no
// secret.
func TestStorefrontBackends(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "docs", "storefront.md"))
	if err != nil {
		t.Fatal(err)
	}
	for language, build := range map[string]func(t *testing.T, text string) *exec.Cmd{
		"js": func(t *testing.T, text string) *exec.Cmd {
			t.Helper()
			return exec.CommandContext(t.Context(), installed(t, "node"), clitest.WriteFile(t, "backend.mjs", text))
		},
		"go": func(t *testing.T, text string) *exec.Cmd {
			t.Helper()
			program := filepath.Join(t.TempDir(), "backend")
			if printed, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, clitest.WriteFile(t, "backend.go", text)).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, printed)
			}
			return exec.CommandContext(t.Context(), program)
		},
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			blocks := regexp.MustCompile("(?s)\n```"+language+"\n(.*?)\n```\n").FindAllStringSubmatch(string(page), -1)
			if len(blocks) != 1 {
				t.Fatalf("%d blocks of %s in docs/storefront.md, want 1", len(blocks), language)
			}
			text := blocks[0][1]
			if lines := strings.Count(text, "\n") + 1; language == "js" && lines != 15 {
				t.Errorf("the page promises fifteen lines, there are %d", lines)
			}
			base, kitchen, _ := runningDemo(t)
			site := freeAddress(t)
			cmd := build(t, strings.NewReplacer("http://127.0.0.1:8080", base, "127.0.0.1:3000", site, `listen(3000, "127.0.0.1")`, listenOn(site)).Replace(text))
			orderThrough(t, cmd, "http://"+site, kitchen)
		})
	}
}

// freeAddress returns an address of this machine that is not in use.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
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

// orderThrough starts a backend and places orders like the form: two with the same
// key, and an invalid one.
func orderThrough(t *testing.T, cmd *exec.Cmd, site, kitchen string) {
	t.Helper()
	said := clitest.NewWatched()
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), "LARDER_SECRET=storefront-secret"), said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
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
		if status, body := postAsForm(t, site, try.key, try.body, said); status != try.status {
			t.Fatalf("%s: %d, want %d\n%s\n%s", try.key, status, try.status, body, said)
		} else if err := json.Unmarshal(body, try.into); err != nil {
			t.Fatalf("%s: %v\n%s", try.key, err, body)
		}
	}
	if first.Result.State != "placed" || first.Result.OrderID == "" || cmp.Diff(first, again) != "" {
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
func postAsForm(t *testing.T, site, key, body string, said *clitest.Watched) (status int, answer []byte) {
	t.Helper()
	var response *http.Response
	clitest.Eventually(t, "the backend answers", func() bool {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, site+"/", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"Content-Type": "application/json", "Idempotency-Key": key, "Accept-Language": "ru"} {
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

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/ordertest"
	"larder.local/internal/testkit/redistest"
	"larder.local/tools/bench/answers"
	"larder.local/tools/bench/loadgen"
)

// begin runs the program until the test ends, and returns its address.
func begin(t *testing.T, words ...string) (address string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	reader, writer := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, words, writer)
		_ = writer.CloseWithError(err)
		ended <- err
	}()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("%v: %v", words, err)
			}
		case <-time.After(time.Minute):
			t.Errorf("%v goes on after its context has ended", words)
		}
	})
	line, err := bufio.NewReader(reader).ReadString('\n')
	if err != nil {
		t.Fatalf("%v: %v", words, err)
	}
	return strings.TrimSpace(strings.TrimPrefix(line, "listening on "))
}

// listed writes a menu, its 304 and the response to an order.
func listed(t *testing.T) (file string, body []byte) {
	t.Helper()
	dir := t.TempDir()
	body = bytes.Repeat([]byte(`{"result":1}`), 3000)
	held := filepath.Join(dir, "body")
	short := filepath.Join(dir, "short")
	if err := os.WriteFile(held, body, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(short, []byte(`{"valid":true}`), 0o600); err != nil {
		t.Fatal(err)
	}
	header := [][2]string{{"Content-Type", "application/json"}, {"Etag", `W/"1-aa"`}}
	file = filepath.Join(dir, "answers.json")
	if err := answers.Write(file, []answers.Answer{
		{Path: "/menu", Status: http.StatusOK, Header: header, File: held},
		{Path: "/304/menu", Status: http.StatusNotModified, Header: header},
		{Path: "/validate", Status: http.StatusOK, Header: header, File: short},
	}); err != nil {
		t.Fatal(err)
	}
	return file, body
}

// ask sends one request on its own connection.
func ask(t *testing.T, method, url, body string, header ...string) (int, http.Header, []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	client := &http.Client{Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header, got
}

func TestAllServersGiveTheSameAnswers(t *testing.T) {
	t.Parallel()
	file, body := listed(t)
	for _, words := range [][]string{
		{"baseline", "--answers", file},
		{"gin", "--answers", file},
		{"gin-redis", "--answers", file, "--redis", redistest.Start(t).URL()},
	} {
		base := "http://" + begin(t, words...)
		status, header, got := ask(t, http.MethodGet, base+"/menu", "")
		if status != http.StatusOK || !bytes.Equal(got, body) || header.Get("ETag") != `W/"1-aa"` || header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d, %d bytes, %v", words[0], status, len(got), header)
		}
		status, header, got = ask(t, http.MethodGet, base+"/304/menu", "", "If-None-Match", `W/"1-aa"`)
		if status != http.StatusNotModified || len(got) > 0 || header.Get("ETag") != `W/"1-aa"` {
			t.Errorf("%s: %d, %q, %v", words[0], status, got, header)
		}
	}
}

func TestBindingAnswersOrdersOfFiveLines(t *testing.T) {
	t.Parallel()
	file, _ := listed(t)
	base := "http://" + begin(t, "gin-bind", "--answers", file)
	order, err := ordertest.FiveLines(time.Now().Add(2 * time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	for sent, want := range map[string]int{string(order.Body): http.StatusOK, "{}": http.StatusBadRequest, "[": http.StatusBadRequest} {
		if status, _, got := ask(t, http.MethodPost, base+"/validate", sent); status != want || (want == http.StatusOK && string(got) != `{"valid":true}`) {
			t.Errorf("%.40s: %d, %q, want %d", sent, status, got, want)
		}
	}
}

func TestPacePrintsItsResult(t *testing.T) {
	t.Parallel()
	file, _ := listed(t)
	address := begin(t, "baseline", "--answers", file)
	request := filepath.Join(t.TempDir(), "request")
	if err := os.WriteFile(request, []byte("GET /menu HTTP/1.1\r\nHost: x\r\n\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(t.Context(), []string{
		"load", "--address", address, "--request", request, "--rate", "200", "--connections", "2", "--for", "500ms", "--warm", "0s",
	}, &out); err != nil {
		t.Fatal(err)
	}
	var found loadgen.Result
	if err := json.Unmarshal(out.Bytes(), &found); err != nil || found.Answered != 100 || found.P99 <= 0 {
		t.Errorf("%s: %v", out.Bytes(), err)
	}
}

func TestProgramSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	file, _ := listed(t)
	for words, want := range map[string]string{
		"":                         "usage: peer",
		"nobody --answers " + file: "usage: peer",
		"gin --answers nowhere":    "nowhere",
		"gin --what":               "not defined",
		"gin-redis --redis x:1 --answers " + file: "invalid",
		"usual --redis x:1":                       "invalid",
		"usual --what":                            "not defined",
		"load --request nowhere":                  "nowhere",
	} {
		if err := run(t.Context(), strings.Fields(words), io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", words, err, want)
		}
	}
}

// TestUsualPlacesOnceAndRepeatsTheAnswer: the implementation does what the comparison
// assumes, with a real sandbox and Redis.
func TestUsualPlacesOnceAndRepeatsTheAnswer(t *testing.T) {
	t.Parallel()
	order, err := ordertest.FiveLines(time.Now().Add(2 * time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	service := sandbox.New(sandbox.Config{})
	service.SetMenu(string(order.Restaurant), order.View)
	server := httptest.NewServer(service.Handler())
	t.Cleanup(server.Close)
	base := "http://" + begin(t, "usual", "--redis", redistest.Start(t).URL(), "--service", server.URL)
	body := strings.Replace(string(order.Body), `"address":{`, `"address":{"fullAddress":"Springfield, Main street, 12",`, 1)
	place := func(key string) (int, http.Header, string) {
		status, header, got := ask(t, http.MethodPost, base+"/v1/restaurants/"+string(order.Restaurant)+"/orders", body, "Idempotency-Key", key)
		return status, header, string(got)
	}
	status, _, first := place("a")
	if status != http.StatusCreated || !strings.Contains(first, `"orderID":"1001"`) {
		t.Fatalf("%d %s", status, first)
	}
	if status, header, got := place("a"); status != http.StatusCreated || got != first || header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the same key: %d %s", status, got)
	}
	if status, _, got := place("b"); status != http.StatusCreated || !strings.Contains(got, `"orderID":"1002"`) {
		t.Errorf("another key: %d %s", status, got)
	}
	for _, change := range []struct{ path, body string }{
		{"1001/pay", `[{"code":"card","amount":1000000,"paidAt":"2026-05-01T18:30:00+03:00"}]`},
		{"1001/complete", ""},
		{"1002/reject", `{"rejectionReasonID":"5f0c8a52-0001-4b6e-9a51-1c6f0a7d2e01"}`},
	} {
		if status, _, got := ask(t, http.MethodPut, base+"/v1/orders/"+change.path, change.body, "Idempotency-Key", change.path); status != http.StatusOK {
			t.Errorf("%s: %d %s", change.path, status, got)
		}
	}
	if status, _, got := ask(t, http.MethodPut, base+"/v1/orders/1001/complete", "", "Idempotency-Key", "again"); status != http.StatusBadGateway {
		t.Errorf("a refused change: %d %s", status, got)
	}
	if status, _, _ := ask(t, http.MethodPut, base+"/v1/orders/1001/pay", "{", "Idempotency-Key", "c"); status != http.StatusBadRequest {
		t.Errorf("no JSON: %d", status)
	}
}

package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"larder.local/cmd/larder/cli"
	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/clitest"
)

// hostile is a text that an attacker could put into a dish's name or a response of the
// ordering service: a cleared screen, a window title, a bell, forged lines, colours in
// one character (C1), reversed text, tabs.
const hostile = "evil\x1b[2J\x1b]0;pwned\x07\r\nFAKE LINE\n\u009b31m\u0085\u202e\u2066\u200e\u2028\u061c\ufeff\x7f\x00\tend"

// withHostile replaces EVIL in JSON with the hostile text.
func withHostile(text string) string {
	quoted, err := json.Marshal(hostile)
	if err != nil {
		panic(err)
	}
	return strings.ReplaceAll(text, "EVIL", strings.Trim(string(quoted), `"`))
}

// forbidden matches characters that must not reach a terminal. It is written by hand,
// so that a mistake in safe cannot hide here.
var forbidden = regexp.MustCompile("[\x00-\x09\x0b-\x1f\x7f\u0080-\u009f\u00ad\u061c\u200b\u200e\u200f" +
	"\u2028\u2029\u202a-\u202e\u2060-\u206f\ufeff]|(?m:^FAKE)")

// shownSafely checks that an output contains the hostile text in its safe form only.
func shownSafely(t *testing.T, what, output string) {
	t.Helper()
	if at := forbidden.FindStringIndex(output); at != nil {
		t.Errorf("%s lets %q through: %q", what, output[at[0]:at[1]], output)
	}
	if !strings.Contains(output, `\x1b]0;pwned\a`) && !strings.Contains(output, `\x1b]0;pwned\\a`) {
		t.Errorf("%s shows nothing of the hostile text: %q", what, output)
	}
}

const hostileRef = "01M7XYWYA9ZF3T3GVVC5557T6W"

const hostileOrder = `{"ref":"` + hostileRef + `","orderID":"EVIL","restaurant":"EVIL",
	"restaurantName":"EVIL","restaurantPhone":"EVIL","restaurantAddress":"EVIL",
	"connection":"EVIL","client":"EVIL","state":"EVIL","total":1,"createdAt":"EVIL","expectedAt":"EVIL",
	"attempts":[{"operation":"pay","at":"EVIL","status":1,"outcome":"unknown","code":"EVIL","by":"EVIL"}],
	"calls":[{"operation":"create","outcome":"unknown","contradicted":"EVIL",
		"sent":{"expeditionType":"EVIL","paymentTypeID":"EVIL","guest":{"firstName":"EVIL","phone":"EVIL"},"address":{"fullAddress":"EVIL"},
			"dishList":[{"name":"EVIL","quantity":1,"ingredients":[{"name":"EVIL","quantity":2}]}]},
		"settled":{"by":"EVIL","outcome":"EVIL","note":"EVIL"}}]}`

const hostileRun = `{"id":"x","restaurant":"EVIL","state":"finished","outcome":"failed","version":1,"error":"EVIL"}`

const hostileAvailability = `{"result":{"pause":{"delivery":{"note":"EVIL","by":"EVIL","at":"EVIL"},"pickup":null},` +
	`"busy":{"leadTime":"EVIL","note":"EVIL"},"snoozed":[{"id":"EVIL","name":"EVIL","note":"EVIL"}],"readAt":"EVIL"}}`

const hostileError = `{"status":422,"code":"EVIL","msg":"EVIL","requestId":"EVIL","ref":"EVIL",
	"errors":[{"path":"EVIL","code":"EVIL","msg":"EVIL"}]}`

const hostileRefusal = `{"status":422,"code":"upstream_refused","msg":"EVIL","requestId":"EVIL","ref":"EVIL",
	"upstream":{"status":400,"code":"EVIL","msg":"EVIL","errors":["EVIL",{"code":"EVIL","msg":"EVIL"},{"other":"EVIL"}]}}`

// hostileView is a menu of the ordering service in which all names are the hostile
// text.
func hostileView() string {
	names := regexp.MustCompile(`"name":\s*"[^"]*"`)
	return withHostile(names.ReplaceAllString(string(sandbox.Bistro(sandbox.BistroID, "")), `"name": "EVIL"`))
}

// hostileLarder answers all routes of larder with hostile texts.
func hostileLarder(t *testing.T) string {
	t.Helper()
	ok := func(body string) http.HandlerFunc { return clitest.Says(http.StatusOK, withHostile(body)) }
	list := `{"result":[{"id":"EVIL","name":"EVIL","version":1,"stale":true,"held":true,"lastOutcome":"failed","checkedAt":"EVIL"},
		{"id":"r1","name":"EVIL","version":1,"lastOutcome":"EVIL"}],"next":null}`
	return clitest.Daemon(t, map[string]http.HandlerFunc{
		"GET /readyz":             ok(`{"status":"EVIL","parts":{"EVIL":{"ok":false,"msg":"EVIL"},"connections":{"EVIL":{"ok":true,"msg":"EVIL"}}}}`),
		"GET /v1/restaurants":     ok(list),
		"GET /v1/ops/restaurants": ok(`{"result":[{"id":"EVIL","name":"EVIL","states":["EVIL"],"lastOutcome":"EVIL"}],"next":null}`),
		"GET /v1/ops/runs":        ok(`{"result":[` + hostileRun + `],"next":null}`),
		"GET /v1/restaurants/{id}/menu": ok(`{"result":{"restaurant":{"id":"EVIL","name":"EVIL"},"name":"EVIL","version":1,
			"categories":[{"id":"c","name":"EVIL"}],"products":[{"id":"EVIL","categoryId":"c","name":"EVIL","price":1,"schemeId":"s",
			"reasons":[{"code":"EVIL","group":"EVIL"}]}],"schemes":[{"id":"s","groups":[{"id":"g","name":"EVIL","min":1,"options":[]}]}]}}`),
		"GET /v1/ops/restaurants/{id}/lint":     ok(`{"result":[{"severity":"EVIL","code":"EVIL","msg":"EVIL","products":[]}]}`),
		"GET /v1/ops/restaurants/{id}/versions": ok(`{"result":[{"version":2,"name":"EVIL","current":true},{"version":1}],"next":null}`),
		"GET /v1/ops/restaurants/{id}/versions/{version}/view": func(w http.ResponseWriter, r *http.Request) {
			if r.PathValue("version") == "1" {
				clitest.Says(http.StatusOK, string(sandbox.Bistro(sandbox.BistroID, "")))(w, r)
				return
			}
			clitest.Says(http.StatusOK, hostileView())(w, r)
		},
		"POST /v1/ops/restaurants/{id}/sync":            ok(`{"result":` + hostileRun + `}`),
		"POST /v1/ops/restaurants/{id}/rollback":        ok(`{"result":` + hostileRun + `}`),
		"POST /v1/ops/restaurants/{id}/{what}":          ok(hostileAvailability),
		"DELETE /v1/ops/restaurants/{id}/{what}":        ok(hostileAvailability),
		"DELETE /v1/ops/restaurants/{id}/snooze/{dish}": ok(hostileAvailability),
		"DELETE /v1/ops/restaurants/{id}/hold":          ok(`{"result":` + hostileRun + `}`),
		"POST /v1/ops/sync":                             ok(`{"result":{"batch":"b","done":1,"failed":1,"total":1}}`),
		"GET /v1/ops/sync/{batch}": ok(`{"result":{"batch":"b","done":1,"failed":1,"total":1,"outcomes":{"failed":1},"faults":[` +
			strings.Replace(hostileRun, `"restaurant":"EVIL"`, `"restaurant":"r1"`, 1) + `]}}`),
		"GET /v1/ops/orders": func(w http.ResponseWriter, r *http.Request) {
			next := `"EVIL"`
			if r.FormValue("cursor") != "" {
				next = "null"
			}
			ok(`{"result":[`+hostileOrder+`],"next":`+next+`}`)(w, r)
		},
		"GET /v1/ops/orders/{ref}":          ok(`{"result":` + hostileOrder + `}`),
		"POST /v1/ops/orders/{ref}/resolve": ok(`{"result":` + hostileOrder + `}`),
		"POST /v1/ops/journal/accept":       ok(`{"result":{"connection":"EVIL","accepted":true}}`),
		"POST /v1/restaurants/{id}/orders":  ok(`{"result":{"ref":"EVIL","orderID":"EVIL","state":"EVIL","total":1}}`),
		"POST /v1/restaurants/{id}/orders/validate": func(w http.ResponseWriter, r *http.Request) {
			if r.PathValue("id") == "r1" {
				ok(`{"result":{"valid":true,"total":1,"lines":[{"name":"EVIL","quantity":1,"total":1}]}}`)(w, r)
				return
			}
			ok(`{"result":{"valid":false,"violations":[{"path":"EVIL","code":"EVIL","msg":"EVIL"}]}}`)(w, r)
		},
	})
}

// refusing issues tokens and answers all other requests with one hostile error.
func refusing(t *testing.T, status int, body string) string {
	t.Helper()
	return clitest.Daemon(t, map[string]http.HandlerFunc{"/": clitest.Says(status, withHostile(body))})
}

// withoutValues has the commands that print no values of a service.
var withoutValues = []string{
	"larder config print", "larder config sample", "larder version",
	"larder token rotate-key", // key ids and counts; TestRotateKeyErrors_H14 has a Redis that answers hostile errors
}

// printsHostile has the other commands, with the arguments of this test.
func printsHostile(t *testing.T) map[string][][]string {
	t.Helper()
	base := hostileLarder(t)
	order := clitest.WriteFile(t, "order.json", `{"restaurantID":"r2"}`)
	view, old := clitest.WriteFile(t, "evil.json", hostileView()), clitest.WriteFile(t, "old.json", string(sandbox.Bistro(sandbox.BistroID, "")))
	at := func(args ...string) []string { return clitest.AsOps(base, args...) }
	commands := map[string][][]string{
		"larder status":               {at("status")},
		"larder sync":                 {at("sync", "r1"), at("sync", "r1", "r2"), at("sync", "--all")},
		"larder menu show":            {at("menu", "show", "r1"), {"menu", "show", view}},
		"larder menu lint":            {at("menu", "lint", "r1")},
		"larder menu diff":            {at("menu", "diff", "r1", "--from", "1"), {"menu", "diff", old, view}, {"menu", "diff", view, old}},
		"larder menu versions":        {},
		"larder menu rollback":        {at("menu", "rollback", "r1", "1")},
		"larder menu release":         {at("menu", "release", "r1")},
		"larder menu snooze":          {at("menu", "snooze", "r1", "p")},
		"larder menu wake":            {at("menu", "wake", "r1", "p")},
		"larder restaurant list":      {at("restaurant", "list")},
		"larder restaurant pause":     {at("restaurant", "pause", "r1")},
		"larder restaurant open":      {at("restaurant", "open", "r1")},
		"larder restaurant busy":      {at("restaurant", "busy", "r1", "90m")},
		"larder order accept-restore": {at("order", "accept-restore")},
		"larder order list":           {at("order", "list")},
		"larder order show":           {at("order", "show", hostileRef)},
		"larder order resolve":        {at("order", "resolve", hostileRef, "--outcome", "not_done")},
		"larder order place":          {at("order", "place", order)},
		"larder order validate":       {at("order", "validate", order), at("order", "validate", order, "--restaurant", "r1")},
	}
	refusers := []string{
		refusing(t, http.StatusUnprocessableEntity, hostileError), refusing(t, http.StatusUnprocessableEntity, hostileRefusal),
		refusing(t, http.StatusServiceUnavailable, `{"status":503,"code":"EVIL","msg":"EVIL"}`),
		refusing(t, http.StatusGatewayTimeout, `{"code":"order_outcome_unknown","msg":"EVIL","ref":"EVIL","requestId":"EVIL"}`),
	}
	server := httptest.NewServer(clitest.Says(http.StatusBadRequest, withHostile(`{"error":"EVIL","error_description":"EVIL"}`)))
	t.Cleanup(server.Close)
	refusers = append(refusers, server.URL)
	for name, lines := range commands {
		words := strings.Fields(strings.TrimPrefix(name, "larder "))
		switch name {
		case "larder status": // a 503 is its readiness, not an error
			continue
		case "larder order show":
			words = append(words, hostileRef)
		case "larder order resolve":
			words = append(words, hostileRef, "--outcome", "not_done")
		case "larder order place", "larder order validate":
			words = append(words, order, "--restaurant", "r1")
		case "larder menu snooze", "larder menu wake":
			words = append(words, "r1", "p")
		case "larder restaurant busy":
			words = append(words, "r1", "90m")
		case "larder menu rollback":
			words = append(words, "r1", "1")
		case "larder menu diff":
			words = append(words, "r1", "--from", "1")
		case "larder order list", "larder order accept-restore", "larder restaurant list":
		default:
			words = append(words, "r1")
		}
		for _, address := range refusers {
			lines = append(lines, clitest.AsOps(address, slices.Clone(words)...))
		}
		commands[name] = lines
	}
	return commands
}

// Policy H9: a new command must print values safely and be listed here.
func TestNoCommandPrintsControlCharacters_H9(t *testing.T) {
	t.Parallel()
	commands := printsHostile(t)
	elsewhere := []string{ // check, init and sandbox have tests below; demo and serve print only their own values and errors
		"larder check", "larder init", "larder sandbox", "larder demo", "larder serve",
	}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, inner := range cmd.Commands() {
			walk(inner)
		}
		name := cmd.CommandPath()
		if len(cmd.Commands()) == 0 && commands[name] == nil && !slices.Contains(withoutValues, name) && !slices.Contains(elsewhere, name) {
			t.Errorf("%s is not tested with hostile values", name)
		}
	}
	walk(newRoot(&cli.Environment{}))
	for name, lines := range commands {
		for _, args := range lines {
			got := larder(t, args...)
			shownSafely(t, name+" "+strings.Join(args, " "), got.Out+got.Err)
			onTerminal := command{terminal: true, outTerminal: true, env: []string{"TERM=xterm"}}.run(t, args...)
			shownSafely(t, name+" on a terminal", withoutOwnCodes(onTerminal.Out+onTerminal.Err))
		}
	}
}

// ownCodes matches larder's colours and the codes of its progress line.
var ownCodes = regexp.MustCompile("\x1b\\[(0|1|2|22|31|32|33|0;\\d+)?m|\x1b\\[K|\x1b\\[J|\x1b\\[2K")

func withoutOwnCodes(output string) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "").Replace(ownCodes.ReplaceAllString(output, ""))
}

func TestStatusWatchPrintsNoControlCharacters(t *testing.T) {
	t.Parallel()
	base := hostileLarder(t)
	for _, c := range []command{{}, {terminal: true, outTerminal: true, env: []string{"TERM=xterm"}}} {
		r := c.start(t, clitest.AsOps(base, "status", "--watch")...)
		r.Out.Find(t, hostileRef)
		r.Stop()
		shownSafely(t, "status --watch", withoutOwnCodes(r.Out.String()+r.Err.String()))
	}
}

// An ordering service answers all requests with hostile texts.
func TestCheckAndInitPrintNoControlCharacters(t *testing.T) {
	t.Parallel()
	evil := func(token, menu http.HandlerFunc) string {
		mux := http.NewServeMux()
		mux.HandleFunc("POST /connect/token", token)
		mux.HandleFunc("/", menu)
		server := httptest.NewServer(mux)
		t.Cleanup(server.Close)
		return server.URL
	}
	token := clitest.Says(http.StatusOK, `{"access_token":"t","token_type":"Bearer","expires_in":3600}`)
	problem := clitest.Says(http.StatusBadRequest, withHostile(
		`{"code":"EVIL","msg":"EVIL","error":"EVIL","error_description":"EVIL","requestId":"EVIL"}`))
	for name, base := range map[string]string{
		"no token": evil(problem, problem),
		"no menu":  evil(token, problem),
	} {
		config := clitest.WriteFile(t, "larder.yaml", "connections: [{name: main, base_url: "+base+", auth_url: "+base+", client_id: a, client_secret: b}]\n"+
			"restaurants: [{id: r1}]\n")
		for _, args := range [][]string{
			{"check", "--online", "--config", config},
			{"menu", "diff", "r1", config, "--config", config},
			{
				"init", filepath.Join(t.TempDir(), "new.yaml"), "--yes", "--restaurant", "r1",
				"--base-url", base, "--client-id", "a", "--client-secret", "b",
			},
		} {
			got := larder(t, args...)
			if got.Status != cli.StatusFailed {
				t.Errorf("%s, %v: %+v", name, args, got)
			}
			shownSafely(t, name+" "+args[0], got.Out+got.Err)
		}
	}
	base := evil(token, problem)
	asked := command{in: "r1\ny\n\n\n"}.run(t, "init", filepath.Join(t.TempDir(), "new.yaml"),
		"--base-url", base, "--auth-url", base, "--client-id", "a", "--client-secret", "b", "--redis", "embedded")
	shownSafely(t, "init", asked.Out+asked.Err)
}

func TestCompletionPrintsNoControlCharacters(t *testing.T) {
	t.Parallel()
	got := larder(t, "__complete", "sync", "--url", hostileLarder(t), "")
	shownSafely(t, "completion", strings.NewReplacer("r1\t", "r1").Replace(got.Out+got.Err))
	if strings.Contains(got.Out, "\nevil") {
		t.Errorf("completion offers an id that is none: %q", got.Out)
	}
}

func TestSandboxPrintsNoControlCharacters(t *testing.T) {
	t.Parallel()
	file := clitest.WriteFile(t, "evil\x1b]0;pwned\a\nFAKE LINE.json", "no menu at all")
	r := command{terminal: true, env: []string{"TERM=xterm"}}.start(t, "sandbox", "--listen", "127.0.0.1:0", "--menu", file)
	r.Out.Find(t, `pwned`)
	r.Stop()
	shownSafely(t, "sandbox", withoutOwnCodes(r.Out.String()+r.Err.String()))
}

// The text log on a terminal: logrus prints messages unchanged.
func TestTextLogHasNoControlCharacters(t *testing.T) {
	t.Parallel()
	for _, terminal := range []bool{true, false} {
		out := clitest.NewWatched()
		w := command{terminal: terminal, env: []string{"TERM=xterm"}}.world(clitest.NewWatched(), out)
		cmd := newRoot(&w)
		if err := cmd.PersistentFlags().Set("log-format", "text"); err != nil {
			t.Fatal(err)
		}
		log, err := logger(cmd, &w)
		if err != nil {
			t.Fatal(err)
		}
		log.WithField("error", hostile).WithError(errors.New(hostile)).Warn(hostile)
		shownSafely(t, "the log", withoutOwnCodes(out.String()))
	}
}

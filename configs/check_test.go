package configs

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// problemsOf parses the text and returns the errors, one for each line.
func problemsOf(t *testing.T, text string, env ...string) []string {
	t.Helper()
	_, err := Parse("larder.yaml", []byte(text), env)
	var problems Errors
	if !errors.As(err, &problems) {
		t.Fatalf("Parse: %v, want Errors", err)
	}
	return strings.Split(problems.Error(), "\n")
}

const connection = `
connections:
  - {name: main, base_url: "http://127.0.0.1:9", auth_url: "http://127.0.0.1:9", client_id: a, client_secret: b}
`

func TestPackageErrorsAreAtTheirKeys(t *testing.T) {
	t.Parallel()
	got := problemsOf(t, `http: {listen: 0.0.0.0:80,
  metrics: nobody}
sync:
  history: -1
ordering:
  max_zero: some
connections:
  - name: main
    auth_url: ftp://x
    client_id: a
    client_secret: b
auth:
  clients:
    - id: shop
      secret: a
      scopes: [cook]
`, "LARDER_CACHE_MEMORY=1KiB")
	want := []string{
		`larder.yaml:2:12: http.metrics: unknown value "nobody" (valid: open, ops, off)`,
		`larder.yaml:4:12: sync.history: must be at least 1`,
		`larder.yaml:6:13: ordering.max_zero: unknown value "some"; did you mean "none"? (valid: unlimited, none)`,
		`larder.yaml:8:5: connections[0].base_url: is missing`,
		`larder.yaml:9:15: connections[0].auth_url: "ftp://x" must start with http:// or https://`,
		`larder.yaml:15:15: auth.clients[0].secret: is shorter than 16 bytes, which is not allowed because http.listen (0.0.0.0:80) ` +
			"is reachable from other machines; create a random one with `openssl rand -base64 32`",
		`larder.yaml:16:16: auth.clients[0].scopes[0]: unknown scope "cook" (valid: menu, orders, ops, ops.read, sync)`,
		`environment LARDER_CACHE_MEMORY: cache.memory: must be at least 1MiB`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestErrorsAcrossSections(t *testing.T) {
	t.Parallel()
	got := problemsOf(t, connection+`restaurants:
  - id: one
    schedule: "@every 2"
  - id: "two words"
    connection: man
  - id: one
    time_zone: Atlantis/Centre
    schedule: often
    ordering:
      price_digits: 9
auth:
  clients:
    - {id: shop, secret: s, scopes: [menu], connection: none}
sync:
  schedule: often
`)
	want := []string{
		`larder.yaml:6:15: restaurants[0].schedule: schedule "@every 2": failed to parse duration @every 2: time: missing unit in duration "2": write "@every 2m", five cron fields such as "*/5 * * * *", or "@hourly"`,
		`larder.yaml:7:9: restaurants[1].id: "two words" is not a valid restaurant id: use 1 to 64 of A-Z a-z 0-9 . _ : -`,
		`larder.yaml:8:17: restaurants[1].connection: there is no connection "man": use one of main`,
		`larder.yaml:9:9: restaurants[2].id: "one" is already the id of restaurants[0]: remove one of them`,
		`larder.yaml:10:16: restaurants[2].time_zone: unknown time zone "Atlantis/Centre": use an IANA name such as Europe/Lisbon`,
		`larder.yaml:11:15: restaurants[2].schedule: schedule "often": expected exactly 5 fields, found 1: [often]: write "@every 2m", five cron fields such as "*/5 * * * *", or "@hourly"`,
		`larder.yaml:13:21: restaurants[2].ordering.price_digits: must be between 0 and 6, not 9`,
		`larder.yaml:16:57: auth.clients[0].connection: there is no connection "none": use one of main`,
		`larder.yaml:18:13: sync.schedule: schedule "often": expected exactly 5 fields, found 1: [often]: write "@every 2m", five cron fields such as "*/5 * * * *", or "@hourly"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// A restaurant's address has one line, and its phone number contains digits.
func TestRestaurantContact(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("7", 101)
	got := problemsOf(t, connection+`restaurants:
  - {id: a, phone: "+351 22 000 00 00, ext. 4", address: "Rua das Flores 1, Porto"}
  - {id: b, phone: ask at the bar}
  - {id: c, phone: "22\a", address: "Rua\n1"}
  - {id: d, phone: "`+long+`"}
`)
	const advice = `is not a telephone number: write one such as "+351 22 000 00 00", with at most 100 bytes`
	want := []string{
		`larder.yaml:6:20: restaurants[1].phone: "ask at the bar" ` + advice,
		`larder.yaml:7:20: restaurants[2].phone: "22\a" ` + advice,
		`larder.yaml:7:37: restaurants[2].address: is not a valid address: write one line of at most 500 bytes`,
		`larder.yaml:8:20: restaurants[3].phone: "` + long + `" ` + advice,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// An embedded Redis is an error if redis.shared is true. The error has the place of
// redis.shared.
func TestInstancesNeedASharedRedis(t *testing.T) {
	t.Parallel()
	const msg = `redis.shared: instances cannot share an embedded Redis; set redis.url to a Redis that all of them can reach, such as redis://redis.internal:6379`
	for name, test := range map[string]struct {
		text, want string
		env        []string
	}{
		"in the file":        {text: "redis:\n  url: embedded\n  shared: true\n", want: "larder.yaml:3:11: " + msg},
		"in the environment": {text: "redis: {url: embedded}\n", env: []string{"LARDER_REDIS_SHARED=true"}, want: "environment LARDER_REDIS_SHARED: " + msg},
		"without an address": {env: []string{"LARDER_REDIS_SHARED=true"}, want: "environment LARDER_REDIS_SHARED: " + msg},
	} {
		if got := problemsOf(t, test.text, test.env...); !cmp.Equal(got, []string{test.want}) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	parsed(t, []byte("redis: {url: embedded, shared: true}\n"), "LARDER_REDIS_URL=redis://h")
}

func TestConnectionsMustBeNamedWhereThereAreSeveral(t *testing.T) {
	t.Parallel()
	two := connection + `  - {name: main, base_url: "http://127.0.0.1:9", auth_url: "http://127.0.0.1:9", client_id: a, client_secret: b}
`
	got := problemsOf(t, two+"restaurants: [{id: one}]\n")
	want := []string{
		`larder.yaml:4:12: connections[1].name: "main" is already the name of connections[0]: change one of them`,
		`larder.yaml:5:15: restaurants[0].connection: is missing: use one of main, main`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	got = problemsOf(t, "restaurants: [{id: one}]\n")
	if want := []string{`larder.yaml:1:15: restaurants[0].connection: there is no connection: add one under connections`}; !cmp.Equal(want, got) {
		t.Errorf("problems %q, want %q", got, want)
	}
}

func TestARestaurantTakesTheOnlyConnectionAndItsIDAsName(t *testing.T) {
	t.Parallel()
	cfg := parsed(t, []byte(connection+"restaurants: [{id: one}]\n"))
	if r := cfg.Restaurants[0]; r.Name != "one" || r.Connection != "main" {
		t.Errorf("restaurant %+v, want name one and connection main", r)
	}
}

func TestDemoSecretsAreRefusedOffLoopback(t *testing.T) {
	t.Parallel()
	for name, env := range map[string][]string{
		"public listener": {"LARDER_HTTP_LISTEN=0.0.0.0:8080"},
		"ops listener":    {"LARDER_HTTP_OPS_LISTEN=10.0.0.1:8081"},
		"local proxy":     {"LARDER_HTTP_TRUSTED_PROXIES_0=127.0.0.1"}, // policy H8
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse("demo.yaml", Demo(), env)
			for _, key := range []string{"connections[0].client_secret", "auth.clients[0].secret", "auth.clients[1].secret"} {
				if err == nil || !strings.Contains(err.Error(), key+": this is the published secret of the demo") {
					t.Errorf("%v: want a problem with %s", err, key)
				} else if n := strings.Count(err.Error(), key+": "); n != 1 {
					t.Errorf("%s is reported %d times: %v", key, n, err)
				}
			}
		})
	}
	for _, listen := range []string{"localhost:80", "[::1]:80", "127.0.0.2:0"} {
		if _, err := Parse("demo.yaml", Demo(), []string{"LARDER_HTTP_LISTEN=" + listen}); err != nil {
			t.Errorf("%s is loopback, got %v", listen, err)
		}
	}
	for _, listen := range []string{"abc", "0.0.0.0:http"} { // nothing is known about who can reach it
		_, err := Parse("demo.yaml", Demo(), []string{"LARDER_HTTP_LISTEN=" + listen})
		if err == nil || !strings.Contains(err.Error(), "http.listen: ") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want only the error of http.listen", listen, err)
		}
	}
}

// If the host name of the page is unknown, its guests could not order.
func TestSelfWithoutHostsWarns(t *testing.T) {
	t.Parallel()
	const text = connection + "restaurants: [{id: one}]\nauth: {public_orders: {enabled: true, origins: [self]}}\n"
	for name, c := range map[string]struct {
		env  []string
		want int
	}{
		"on loopback":         {nil, 0},
		"beyond":              {[]string{"LARDER_HTTP_LISTEN=0.0.0.0:8080"}, 1},
		"behind a proxy":      {[]string{"LARDER_HTTP_TRUSTED_PROXIES_0=127.0.0.1"}, 1},
		"with the host named": {[]string{"LARDER_HTTP_LISTEN=0.0.0.0:8080", "LARDER_HTTP_HOSTS_0=shop.example"}, 0},
	} {
		if got := parsed(t, []byte(text), c.env...).Warnings(); len(got) != c.want || c.want > 0 && !strings.Contains(got[0], "http.hosts") {
			t.Errorf("%s: warnings %q, want %d", name, got, c.want)
		}
	}
}

func TestLoadFindsFilesBesideTheConfiguration(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := strings.ReplaceAll(connection, "client_secret: b", "client_secret_file: secret")
	for name, content := range map[string]string{"larder.yaml": text, "secret": "from beside\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := Load(filepath.Join(dir, "larder.yaml"), []string{"LARDER_HTTP_LITSEN=x"})
	if err != nil {
		t.Fatal(err)
	}
	if got := cfg.Connections[0].ClientSecret; got != "from beside" {
		t.Errorf("secret %q, want that of the file", got)
	}
	if want := []string{"environment LARDER_HTTP_LITSEN is not a setting and is ignored; did you mean LARDER_HTTP_LISTEN?"}; !cmp.Equal(want, cfg.Warnings()) {
		t.Errorf("warnings %q, want %q", cfg.Warnings(), want)
	}
}

func TestLoadWithoutAFile(t *testing.T) {
	t.Parallel()
	cfg, err := Load("", []string{"LARDER_REDIS_PREFIX=mine"})
	if err != nil || cfg.Redis.Prefix != "mine" {
		t.Errorf("Load without a file: %v, want defaults and environment", err)
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none.yaml"), nil); err == nil || !strings.Contains(err.Error(), "the file does not exist") {
		t.Errorf("Load of a missing file: %v", err)
	}
	if _, err := Load(t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "cannot read the configuration: is a directory") {
		t.Errorf("Load of a folder: %v", err)
	}
}

// Control characters in a file are not printed on the terminal.
func TestLoadRejectsControlCharacters(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"http:\n  listen: \x1b[2Jhere\n", "http:\n  listen: \xff\xfe\n", "\x7fELF\x00"} {
		file := filepath.Join(t.TempDir(), "larder.yaml")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		want := file + ":2:11: invalid character: the configuration must be YAML in UTF-8, without control characters"
		if strings.HasPrefix(content, "\x7f") {
			want = strings.Replace(want, ":2:11:", ":1:1:", 1)
		}
		if _, err := Load(file, nil); err == nil || err.Error() != want {
			t.Errorf("Load of %q: %v, want %s", content, err, want)
		}
	}
}

func TestPrintRedactsSecretsAndIsReadable(t *testing.T) {
	t.Parallel()
	cfg := parsed(t, Demo(), "LARDER_REDIS_URL=redis://user:hush@127.0.0.1:6379/1", "LARDER_RESTAURANTS_0_ORDERING_LEAD_TIME=90m")
	text, err := cfg.YAML()
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"demo-secret", "storefront-secret", "ops-secret", "hush"} {
		if strings.Contains(string(text), secret) {
			t.Errorf("the secret %q is printed:\n%s", secret, text)
		}
	}
	for _, line := range []string{"  url: redis://user:redacted@127.0.0.1:6379/1", `    client_secret: "[redacted]"`, "      lead_time: 1h30m", "  memory: 512MiB", "    token_request: document"} {
		if !strings.Contains(string(text), line+"\n") {
			t.Errorf("no line %q in\n%s", line, text)
		}
	}
	again := parsed(t, text)
	if warnings := strings.Join(again.Warnings(), "\n"); !strings.Contains(warnings, "connections[0].client_secret is not a secret, but what larder config print writes") {
		t.Errorf("warnings of what is printed: %s", warnings)
	}
	if again.Cache != cfg.Cache || *again.Restaurants[0].Ordering.LeadTime != *cfg.Restaurants[0].Ordering.LeadTime {
		t.Errorf("what is printed does not read as what it was")
	}
	object, err := cfg.JSON()
	if err != nil || !strings.Contains(string(object), `"listen":"127.0.0.1:8080"`) || strings.Contains(string(object), "hush") {
		t.Errorf("JSON %s, %v", object, err)
	}
	fromJSON := parsed(t, object)
	fromJSON.warnings = again.warnings
	same(t, again, fromJSON)
}

func TestAllErrorsAreReportedAtOnce(t *testing.T) {
	t.Parallel()
	got := problemsOf(t, `http:
  lisen: x
  drain_timeout: soon
  metrics: some
sync: {history: -1}
cache: {memory: 1KiB}
connections:
  - name: main
    base_ulr: http://127.0.0.1:9
    auth_url: ftp://x
    client_id: a
    client_secret: ${NOBODY}
    concurrency: none
restaurants:
  - id: "two words"
    connection: man
  - id: [one]
  - id: one
    schedule: often
auth:
  clients:
    - {id: shop, secret: "${NOBODY}", scopes: [cook]}
`)
	want := []string{
		`larder.yaml:2:3: unknown key "lisen" in http: did you mean "listen"?`,
		`larder.yaml:3:18: http.drain_timeout: invalid duration "soon": write a number and a unit, such as 500ms, 30s, 2m or 24h`,
		`larder.yaml:4:12: http.metrics: unknown value "some" (valid: open, ops, off)`,
		`larder.yaml:5:17: sync.history: must be at least 1`,
		`larder.yaml:6:17: cache.memory: must be at least 1MiB`,
		`larder.yaml:9:5: unknown key "base_ulr" in connections[0]: did you mean "base_url"?`,
		`larder.yaml:10:15: connections[0].auth_url: "ftp://x" must start with http:// or https://`,
		`larder.yaml:12:20: connections[0].client_secret: the environment variable NOBODY is not set: set it, or use a file with client_secret_file`,
		`larder.yaml:13:18: connections[0].concurrency: "none" must be an integer`,
		`larder.yaml:15:9: restaurants[0].id: "two words" is not a valid restaurant id: use 1 to 64 of A-Z a-z 0-9 . _ : -`,
		`larder.yaml:16:17: restaurants[0].connection: there is no connection "man": use one of main`,
		`larder.yaml:17:9: restaurants[1].id: must be one value, not a list`,
		`larder.yaml:19:15: restaurants[2].schedule: schedule "often": expected exactly 5 fields, found 1: [often]: write "@every 2m", five cron fields such as "*/5 * * * *", or "@hourly"`,
		`larder.yaml:22:26: auth.clients[0].secret: the environment variable NOBODY is not set: set it, or use a file with secret_file`,
		`larder.yaml:22:48: auth.clients[0].scopes[0]: unknown scope "cook" (valid: menu, orders, ops, ops.read, sync)`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// A value that could not be read does not count as missing, and references to it are
// not checked.
func TestValuesThatCannotBeReadAreNotChecked(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		env  []string
		want []string
	}{
		"connections that are no list": {
			"connections: {name: main}\nrestaurants: [{id: one, connection: main}]\n", nil,
			[]string{"larder.yaml:1:14: connections: must be a list, not a section"},
		},
		"a connection without a name that can be read": {
			strings.ReplaceAll(connection, "name: main", "name: [main]") + "restaurants: [{id: one, connection: main}]\n", nil,
			[]string{"larder.yaml:3:12: connections[0].name: must be one value, not a list"},
		},
		"an alias": {
			strings.ReplaceAll(connection, `base_url: "http://127.0.0.1:9"`, "base_url: *nobody"), nil,
			[]string{"larder.yaml:3:28: invalid YAML: anchors and aliases (&name, *name) are not supported: write the value where it is needed, in quotes if it starts with & or *"},
		},
		"a merge key": {
			"connections:\n  - <<: {name: a}\n", nil,
			[]string{"larder.yaml:2:5: connections[0]: merge keys (<<) are not supported: write the keys where they are needed"},
		},
		"a secret's file that is not there": {
			strings.ReplaceAll(connection, "client_secret: b", "client_secret_file: /no/such/file"), nil,
			[]string{"larder.yaml:3:116: connections[0].client_secret_file: cannot read the secret: open /no/such/file: no such file or directory"},
		},
		"an element after the next": {
			connection + "restaurants: [{id: a b}]\n",
			[]string{"LARDER_RESTAURANTS_2_NAME=C"},
			[]string{
				`larder.yaml:4:20: restaurants[0].id: "a b" is not a valid restaurant id: use 1 to 64 of A-Z a-z 0-9 . _ : -`,
				"environment LARDER_RESTAURANTS_2_NAME: restaurants[2]: there is no such element: the list has 1, the next index is 1",
			},
		},
		"no YAML at all": {
			"connections: [a\n", nil,
			[]string{"larder.yaml:1:14: invalid YAML: did not find expected ',' or ']'" + checkSyntax},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, problemsOf(t, tc.text, tc.env...)); diff != "" {
				t.Errorf("problems of\n%s\n(-want +got):\n%s", tc.text, diff)
			}
		})
	}
}

func TestAGeneralProblemIsNotRepeatedForEachRestaurant(t *testing.T) {
	t.Parallel()
	got := problemsOf(t, connection+`ordering: {max_depth: -1}
restaurants:
  - {id: one, ordering: {price_digits: 9}}
  - {id: two, ordering: {price_digits: 1}}
`)
	if len(got) != 2 || !strings.Contains(got[0], " ordering.max_depth: ") || !strings.Contains(got[1], " restaurants[0].ordering.price_digits: ") {
		t.Errorf("problems %q, want the general problem once and the restaurant's own", got)
	}
}

func TestProblemsAsJSON(t *testing.T) {
	t.Parallel()
	_, err := Parse("larder.yaml", []byte("sync: {history: many}\n"), []string{"LARDER_CACHE_MEMORY=1KiB"})
	got, jsonErr := json.Marshal(err)
	want := `[{"file":"larder.yaml","line":1,"column":17,"key":"sync.history","msg":"\"many\" must be an integer"},` +
		`{"variable":"LARDER_CACHE_MEMORY","key":"cache.memory","msg":"must be at least 1MiB"}]`
	if string(got) != want || jsonErr != nil {
		t.Errorf("JSON %s, %v; want %s", got, jsonErr, want)
	}
}

// If the cause of a frequent mistake is known, the message names the fix.
func TestMessagesNameTheFix(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, want string }{
		"a URL without a scheme": {
			strings.ReplaceAll(connection, `base_url: "http://127.0.0.1:9"`, "base_url: 127.0.0.1:9"),
			`larder.yaml:3:28: connections[0].base_url: "127.0.0.1:9" is not a valid URL: ` +
				"start it with http:// or https://, such as http://127.0.0.1:9",
		},
		"a percentage": {
			"sync: {shrink_limit: 50}\n", "larder.yaml:1:22: sync.shrink_limit: must be above 0 and at most 1: write 0.5 for 50 %",
		},
		"a percent sign": {"sync: {shrink_limit: 50%}\n", "larder.yaml:1:22: sync.shrink_limit: write 0.5 for 50 %"},
		"a quote without its end": {
			"redis:\n  url: \"embedded\n  prefix: x # it's\nhttp:\n  listen: \"@x\"\n",
			"larder.yaml:2:8: invalid YAML: the quote is not closed on this line",
		},
		"a single quote without its end": {
			"redis: {prefix: \"a\\\"b\"}\nhttp:\n  hosts:\n    - 'it''s\n    - 'x'\n",
			"larder.yaml:4:7: invalid YAML: the quote is not closed on this line",
		},
		"a colour without quotes": {
			"http:\n  page:\n    color: #14532d\n    logo: # the default\n",
			`larder.yaml:3:11: http.page.color: is empty, because # begins a comment: put the value in quotes, such as "#14532d"`,
		},
		"a colour without quotes in braces": {
			"http:\n  # page: {color: #fff}\n  page: {logo: \"é\", color: #14532d, description: x}\nauth: {}\n",
			`larder.yaml:3:28: invalid YAML: # begins a comment: put the value in quotes, such as "#14532d"`,
		},
		"a colour without quotes in braces at the end": {
			"http: {page: {color: #14532d}}\n",
			`larder.yaml:1:22: invalid YAML: # begins a comment: put the value in quotes, such as "#14532d"`,
		},
		"a secret that begins a comment": {
			"auth:\n  clients:\n    - id: shop\n      secret: #2hush\n      scopes: [menu]\n",
			`larder.yaml:4:14: auth.clients[0].secret: is empty, because # begins a comment: put the value in quotes, such as "#14532d"`,
		},
		"typographic quotes around a secret": {
			strings.ReplaceAll(connection, "client_secret: b", "client_secret: “secret of the service”"),
			`larder.yaml:3:111: connections[0].client_secret: has typographic quotes around it, which would be part of the secret: use " or ', or remove them`,
		},
		"an id in place of a name": { // the other restaurants' errors follow from it
			strings.ReplaceAll(connection, "name: main", "id: main") + "restaurants: [{id: one}, {id: two, connection: main}]\n",
			`larder.yaml:3:6: unknown key "id" in connections[0]: did you mean "name"?`,
		},
		"a name in place of an id": {
			"auth: {clients: [{name: shop, secret: s, scopes: [menu]}]}\n",
			`larder.yaml:1:19: unknown key "name" in auth.clients[0]: did you mean "id"?; ` +
				"under auth this is an error even with --allow-unknown-keys: correct or remove the key",
		},
		"a restaurant with a name alone": {
			connection + "restaurants: [{name: one}]\n",
			`larder.yaml:4:15: restaurants[0].id: is missing: write the restaurant's id of the ordering service`,
		},
		"a connection without a name": {
			strings.ReplaceAll(connection, "name: main, ", "") + "restaurants: [{id: one}, {id: two, connection: main}]\n",
			`larder.yaml:3:5: connections[0].name: is missing: write any name, such as main`,
		},
		"restaurants without a connection": {
			"restaurants: [{id: one}, {id: two}]\n",
			`larder.yaml:1:15: restaurants[0].connection: there is no connection: add one under connections`,
		},
		"a misspelled scope": {
			"auth: {clients: [{id: a, secret: b, scopes: [order]}]}\n",
			`larder.yaml:1:46: auth.clients[0].scopes[0]: unknown scope "order"; did you mean "orders"? (valid: menu, orders, ops, ops.read, sync)`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff([]string{tc.want}, problemsOf(t, tc.text)); diff != "" {
				t.Errorf("problems of\n%s\n(-want +got):\n%s", tc.text, diff)
			}
		})
	}
	both := problemsOf(t, strings.ReplaceAll(connection, "name: main", "id: x, name: no name"))
	if len(both) != 2 || !strings.Contains(both[0], `unknown key "id" in connections[0]: the keys are name, `) || !strings.Contains(both[1], `"no name"`) {
		t.Errorf("an id beside a name: %q", both)
	}
	legal := "redis:\n  prefix: \"a\n    b\"\n"
	if _, err := Parse("larder.yaml", []byte(legal), nil); err != nil && strings.Contains(err.Error(), "YAML") {
		t.Errorf("a quoted value of two lines: %v", err)
	}
}

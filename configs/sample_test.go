package configs

import (
	"bytes"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"larder.local/httpapi"
	"larder.local/httpapi/auth"
	"larder.local/httpapi/ratelimit"
	"larder.local/httpapi/storefront"
	"larder.local/internal/redisdb"
	"larder.local/internal/upstream"
	menusync "larder.local/sync"
)

func parsed(t *testing.T, text []byte, env ...string) *Config {
	t.Helper()
	cfg, err := Parse("larder.yaml", text, env)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func same(t *testing.T, want, got *Config) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Config{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
}

// keysOf returns all keys of a section in the form of the file. List elements are
// "[]".
func keysOf(path string, typ reflect.Type) []string {
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if typ.Kind() == reflect.Slice && typ.Elem().Kind() == reflect.Struct {
		return keysOf(path+"[]", typ.Elem())
	}
	if typ.Kind() != reflect.Struct || isText(typ) {
		return []string{path}
	}
	var keys []string
	for _, f := range fieldsOf(typ) {
		keys = append(keys, keysOf(join(path, f.name), typ.FieldByIndex(f.index).Type)...)
	}
	return keys
}

// written returns the keys in a text.
func written(t *testing.T, text []byte) []string {
	t.Helper()
	cfg, l := &Config{}, newLoader("", []string{"ORDERS_SECRET=a", "STOREFRONT_SECRET=b"})
	l.read(text, reflect.ValueOf(cfg).Elem())
	if len(l.problems) > 0 {
		t.Fatal(l.problems)
	}
	var keys []string
	for path := range l.places {
		keys = append(keys, regexp.MustCompile(`\[\d+\]`).ReplaceAllString(path, "[]"))
	}
	return keys
}

// uncommented returns larder.yaml with its samples instead of empty lists.
func uncommented() []byte {
	text := regexp.MustCompile(`(?m)^ *(connections|restaurants|clients): \[\]\n`).ReplaceAllString(string(Sample()), "")
	return []byte(regexp.MustCompile(`(?m)^#([a-z]|  )`).ReplaceAllString(text, "$1"))
}

func TestSampleEqualsTheDefaults(t *testing.T) {
	t.Parallel()
	same(t, parsed(t, nil), parsed(t, Sample()))
}

func TestSampleDocumentsEveryKey(t *testing.T) {
	t.Parallel()
	inSample, inLists := written(t, Sample()), written(t, uncommented())
	for _, key := range keysOf("", reflect.TypeFor[Config]()) {
		switch {
		case strings.Contains(key, "[]") && !slices.Contains(inLists, key):
			t.Errorf("%s is in no commented sample of larder.yaml", key)
		case !strings.Contains(key, "[]") && !slices.Contains(inSample, key):
			t.Errorf("%s is not in larder.yaml", key)
		}
	}
}

func TestCommentedSamplesAreValidAndDefault(t *testing.T) {
	t.Parallel()
	cfg := parsed(t, uncommented(), "ORDERS_SECRET=orders", "STOREFRONT_SECRET=storefront")
	want := upstream.Config{
		Name:         "main",
		BaseURL:      "https://orders.example",
		AuthURL:      "https://auth.example",
		ClientID:     "my-client",
		ClientSecret: "orders",
	}
	want.SetDefaults()
	if diff := cmp.Diff([]upstream.Config{want}, cfg.Connections, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the sample connection against the defaults (-want +got):\n%s", diff)
	}
	if len(cfg.Restaurants) != 1 || len(cfg.Auth.Clients) != 1 || cfg.Auth.Clients[0].Secret != "storefront" {
		t.Errorf("samples read as %+v, %+v", cfg.Restaurants, cfg.Auth.Clients)
	}
	own := cfg.OrderingOf(cfg.Restaurants[0])
	own.Required = cfg.Ordering.Required // the sample differs from the default on purpose
	if diff := cmp.Diff(cfg.Ordering, own); diff != "" {
		t.Errorf("the sample override against the defaults (-want +got):\n%s", diff)
	}
}

func TestDemoIsTheDocumentedBlock(t *testing.T) {
	t.Parallel()
	want := &Config{
		HTTP:  httpapi.Config{Listen: "127.0.0.1:8080", Page: storefront.Config{Enabled: true, Currency: "TRY"}},
		Redis: redisdb.Config{URL: "embedded"},
		Connections: []upstream.Config{{
			Name: "main", BaseURL: "http://127.0.0.1:9090", AuthURL: "http://127.0.0.1:9090",
			ClientID: "demo", ClientSecret: "demo-secret", TokenRequest: documentForm(), DefaultMenu: new(true),
		}},
		Restaurants: []Restaurant{{
			ID:         "76439fb3-c0c4-42ca-a269-64f031a6a33b",
			Name:       "Larder Bistro",
			GuestPhone: "+90 212 555 01 01",
			Address:    "İstiklal Caddesi 15, Beyoğlu, Istanbul",
			Connection: "main",
			Schedule:   "@every 2m",
			TimeZone:   "Europe/Istanbul",
		}},
		Sync: menusync.Config{
			ShrinkLimit: 0.5,
			History:     20,
			StaleAfter:  3,
			Deadline:    time.Minute,
		},
		Auth: auth.Config{OpenMenu: new(true), Clients: []auth.ClientConfig{
			{ID: "storefront", Secret: "storefront-secret", Scopes: []auth.Scope{"menu", "orders"}, Connection: "main"},
			{ID: "ops", Secret: "ops-secret", Scopes: []auth.Scope{"menu", "orders", "ops"}},
			{ID: "till", Secret: "till-secret", Scopes: []auth.Scope{"sync"}, Connection: "main"},
		}, PublicOrders: auth.PublicOrders{Enabled: true, Origins: []string{auth.OriginSelf}, Rate: ratelimit.Rate{Count: 60, Per: time.Minute}}},
	}
	setDefaults(reflect.ValueOf(want).Elem())
	want.Connections[0].SetDefaults()
	want.Ordering.AllowNonDurable, want.Ordering.AcceptRestore = true, new(true)
	same(t, want, parsed(t, Demo()))
}

func TestDemoSecretsAreThoseOfTheFile(t *testing.T) {
	t.Parallel()
	demo := parsed(t, Demo())
	var inFile []string
	for _, connection := range demo.Connections {
		inFile = append(inFile, connection.ClientSecret)
	}
	for _, client := range demo.Auth.Clients {
		inFile = append(inFile, client.Secret)
	}
	if !slices.Equal(inFile, demoSecrets) || bytes.Count(Demo(), []byte("secret: ")) != len(demoSecrets) {
		t.Errorf("demo secrets %v, want %v", demoSecrets, inFile)
	}
}

// A token request is a preset or a section, in the file or in variables. Its printed
// form is read as the same value.
func TestTokenRequest(t *testing.T) {
	t.Parallel()
	variable := func(field, value string) string { return "LARDER_CONNECTIONS_0_TOKEN_REQUEST" + field + "=" + value }
	for name, tc := range map[string]struct {
		yaml string
		env  []string
		want upstream.TokenRequest
		says string // a part of the error
	}{
		"document": {yaml: "document", want: documentForm()},
		"oauth":    {yaml: "oauth", want: oauthForm()},
		"custom": {
			yaml: "{encoding: urlencoded, client_id_field: app, scope_field: realm}",
			want: upstream.TokenRequest{Encoding: "urlencoded", ClientIDField: "app", ScopeField: "realm"},
		},
		"custom follows its encoding's preset": {
			yaml: "{encoding: urlencoded, client_id_field: app}",
			want: upstream.TokenRequest{Encoding: "urlencoded", ClientIDField: "app", ScopeField: "scope"},
		},
		"a variable over it": {yaml: "document", env: []string{variable("", "oauth")}, want: oauthForm()},
		"a variable of a field": {
			yaml: "{encoding: urlencoded}", env: []string{variable("_SCOPE_FIELD", "realm")},
			want: upstream.TokenRequest{Encoding: "urlencoded", ClientIDField: "client_id", ScopeField: "realm"},
		},
		"unknown preset": {yaml: "guess", says: `larder.yaml:4:20: connections[0].token_request: unknown value "guess" (valid: document, oauth`},
		"unknown field": {
			yaml: "{encodin: multipart}",
			says: `larder.yaml:4:21: unknown key "encodin" in connections[0].token_request: did you mean "encoding"?`,
		},
	} {
		cfg, err := Parse("larder.yaml", []byte(strings.ReplaceAll(connection, "client_secret: b}", "client_secret: b,\n    token_request: "+tc.yaml+"}\n")), tc.env)
		if tc.says != "" {
			if err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s: error %v, want %s", name, err, tc.says)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text, err := cfg.YAML()
		if err != nil {
			t.Fatal(err)
		}
		again := parsed(t, []byte(strings.ReplaceAll(string(text), redacted, "b")))
		if got := cfg.Connections[0].TokenRequest; got != tc.want || again.Connections[0].TokenRequest != tc.want {
			t.Errorf("%s: %v, printed and read again %v, want %v", name, got, again.Connections[0].TokenRequest, tc.want)
		}
	}
}

// documentForm and oauthForm return the presets of the token request.
func documentForm() upstream.TokenRequest {
	return upstream.TokenRequest{Encoding: upstream.EncodingMultipart, ClientIDField: "client_ID", ScopeField: "scopes"}
}

func oauthForm() upstream.TokenRequest {
	return upstream.TokenRequest{Encoding: upstream.EncodingURLEncoded, ClientIDField: "client_id", ScopeField: "scope"}
}

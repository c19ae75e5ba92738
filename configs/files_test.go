package configs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"larder.local/internal/testkit/tlstest"
)

// A secret file is a small regular file with one line; anything else is an error of its key (policy H12).
func TestSecretFiles_H12(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	write := func(name, content string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	if got := mustLoad(t, "cooks:\n- pin_file: "+write("good", "\ufeffa pin\r\n")).Cooks[0].PIN; got != "a pin" {
		t.Errorf("pin %q", got)
	}
	for name, want := range map[string]string{
		pipe:                        " is not a regular file: use the path of a file, not of a folder, pipe, socket or device",
		dir:                         " is not a regular file: use the path of a file, not of a folder, pipe, socket or device",
		"/dev/zero":                 " is not a regular file: use the path of a file, not of a folder, pipe, socket or device",
		write("empty", "\n"):        " is empty: write the secret to it",
		write("lines", "a\nb\n"):    " contains a control character, such as a tab or a second line: a secret is one line of text in UTF-8",
		write("large", long(65537)): " has more than 65536 bytes",
	} {
		wantProblems(t, "cooks:\n- pin_file: "+name, nil, "larder.yaml:2:13: cooks[0].pin_file: cannot read the secret: "+name+want)
	}
}

// The paths of TLS files are relative to the configuration's folder, and `larder check` warns of a key that others can read
// (policies H12, H13).
func TestKeyFiles_H12(t *testing.T) {
	t.Parallel()
	ca := tlstest.Authority(t)
	dir := t.TempDir()
	for name, content := range map[string][]byte{
		"own.pem": ca.PEM, "own.key": ca.Key,
		"larder.yaml": []byte("connections: [{name: a, base_url: 'https://a.example', auth_url: 'https://a.example', client_id: a, client_secret: '${SECRET}', " +
			"tls: {ca_file: own.pem, cert_file: own.pem, key_file: own.key}}]\n"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	key := filepath.Join(dir, "own.key")
	for mode, want := range map[os.FileMode]string{0o600: "", 0o644: "connections[0].tls.key_file: " + key + " contains secrets, and every user"} {
		if err := os.Chmod(key, mode); err != nil {
			t.Fatal(err)
		}
		cfg, err := Load(filepath.Join(dir, "larder.yaml"), []string{"SECRET=0123456789abcdef"}, Thorough)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(cfg.Warnings(), "\n"); !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("%o: warnings %q, want %q", mode, got, want)
		}
	}
}

func long(n int) string { return strings.Repeat("a", n) }

// `larder check` warns of files with secrets that others can read, and only of these (policy H12).
func TestFilesOfSecretsThatOthersCanRead_H12(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, secret := filepath.Join(dir, "larder.yaml"), filepath.Join(dir, "secret")
	const inside, demo = "client_secret: my-own-secret", "client_secret: demo-secret"
	for name, tc := range map[string]struct {
		text         string
		file, secret os.FileMode
		want         string // the file of the warning
	}{
		"private":                       {inside, 0o600, 0o600, ""},
		"for the group":                 {inside, 0o640, 0o640, ""},
		"a secret inside":               {inside, 0o644, 0o600, file},
		"the demo's secret":             {demo, 0o644, 0o600, ""},
		"a secret file":                 {"client_secret_file: secret", 0o644, 0o644, "connections[0].client_secret_file: " + secret},
		"a private secret file":         {"client_secret_file: secret", 0o644, 0o600, ""},
		"a variable":                    {"client_secret: '${SECRET}'", 0o644, 0o644, ""},
		"a password of Redis":           {"client_secret: '${SECRET}'}\nredis: {url: 'redis://:pw@redis.internal:6379'}\n#", 0o644, 0o600, file},
		"an address of Redis":           {"client_secret: '${SECRET}'}\nredis: {url: 'redis://redis.internal:6379'}\n#", 0o644, 0o600, ""},
		"a secret file, world writable": {"client_secret_file: secret", 0o600, 0o662, "connections[0].client_secret_file: " + secret},
	} {
		text := strings.ReplaceAll(connection, "client_secret: b", tc.text)
		for name, content := range map[string]string{file: text, secret: "content of it"} {
			if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(file, tc.file); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(secret, tc.secret); err != nil {
			t.Fatal(err)
		}
		for _, options := range [][]Option{{Thorough}, nil} {
			cfg, err := Load(file, []string{"SECRET=0123456789abcdef"}, options...)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			got := strings.Join(cfg.Warnings(), "\n")
			if warned := options != nil && tc.want != ""; warned != (got != "") || warned && !strings.HasPrefix(got, tc.want+" contains secrets, and every user") {
				t.Errorf("%s, %d options: warnings %q, want %q", name, len(options), got, tc.want)
			}
		}
	}
}

// serve accepts a file without connections; check does not, because it is probably the wrong file.
func TestThorough_NothingToServe(t *testing.T) {
	t.Parallel()
	const msg = "connections: is empty, so there is nothing to serve: add a connection, or check that this is the right file"
	for text, at := range map[string]string{
		"":                              ":1:1: ",
		"\ufeff# nothing yet\n":         ":1:1: ",
		"sync: {history: 3}\n":          ":1:1: ",
		"{\n  \"connections\": []\n}\n": ":2:18: ",
		"connections:\nrestaurants: [{id: one}, {id: two}]\n": ":1:13: ",
	} {
		_, err := Parse("larder.yaml", []byte(text), nil, Thorough)
		if err == nil || err.Error() != "larder.yaml"+at+msg {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, c := range [][]Option{nil, {AllowUnknownKeys}} {
		if _, err := Parse("larder.yaml", nil, nil, c...); err != nil {
			t.Errorf("serve of an empty file: %v", err)
		}
	}
	env := []string{
		"LARDER_CONNECTIONS_0_NAME=main", "LARDER_CONNECTIONS_0_BASE_URL=http://127.0.0.1:9", "LARDER_CONNECTIONS_0_AUTH_URL=http://127.0.0.1:9",
		"LARDER_CONNECTIONS_0_CLIENT_ID=a", "LARDER_CONNECTIONS_0_CLIENT_SECRET=secret-of-the-service",
	}
	if cfg, err := Parse("larder.yaml", nil, env, Thorough); err != nil || len(cfg.Warnings()) > 0 {
		t.Errorf("a connection in the environment: %v, %v", cfg.Warnings(), err)
	}
}

func TestThorough_WeakSecrets(t *testing.T) {
	t.Parallel()
	text := connection + `auth:
  clients:
    - {id: shop, secret: short, scopes: [menu]}
    - {id: ops, secret: ops-secret, scopes: [ops]}
    - {id: pos, secret: "Zk3v9QmX1r8Tn5Lw", scopes: [menu]}
`
	cfg, err := Parse("weak.yaml", []byte(text), nil, Thorough)
	want := []string{
		"weak.yaml:3:111: connections[0].client_secret: has fewer than 8 bytes: check that it is complete",
		"weak.yaml:6:26: auth.clients[0].secret: is shorter than 16 bytes; larder rejects it as soon as other machines can reach it: " +
			"create a random one with `openssl rand -base64 32`",
	}
	if err != nil || !slices.Equal(cfg.Warnings(), want) {
		t.Errorf("warnings %q, %v, want %q", cfg.Warnings(), err, want)
	}
	if warnings := parsed(t, []byte(text)).Warnings(); len(warnings) > 0 {
		t.Errorf("the log of serve has %q", warnings)
	}
}

// Windows saves text with a byte order mark.
func TestByteOrderMark(t *testing.T) {
	t.Parallel()
	if cfg := parsed(t, []byte("\ufeff"+strings.TrimSpace(connection)+"\n")); len(cfg.Connections) != 1 {
		t.Errorf("%d connections", len(cfg.Connections))
	}
	if got := problemsOf(t, "\ufeffsnyc: {}\n"); len(got) != 1 || got[0] != `larder.yaml:1:1: unknown key "snyc" in the configuration: did you mean "sync"?` {
		t.Errorf("problems %q", got)
	}
}

package configs

import (
	"os"
	"path/filepath"
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
		write("lines", "a\nb\n"):    " contains a control character, such as a tab or a second line, or is no UTF-8: a secret is one line of text in UTF-8",
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
		cfg, err := Load(filepath.Join(dir, "larder.yaml"), []string{"SECRET=0123456789abcdef"}, CheckFiles)
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
		for name, content := range map[string]string{file: text, secret: "content"} {
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
		for _, options := range [][]Option{{CheckFiles}, nil} {
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

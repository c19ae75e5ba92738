package smallfile_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"larder.local/internal/smallfile"
)

// special creates files that are not regular and returns their names.
func special(t *testing.T) map[string]string {
	t.Helper()
	folder := t.TempDir()
	pipe, link, socket := filepath.Join(folder, "pipe"), filepath.Join(folder, "link"), filepath.Join(folder, "s")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(pipe, link); err != nil {
		t.Fatal(err)
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return map[string]string{
		"FIFO": pipe, "link to a FIFO": link, "socket": socket, "folder": folder,
		"zeros": "/dev/zero", "random": "/dev/urandom", "null": "/dev/null",
	}
}

// A secret or key file is a regular file: anything else is an error at once (policy H12).
func TestOnlyRegularFilesAreRead_H12(t *testing.T) {
	t.Parallel()
	for kind, name := range special(t) {
		for form, read := range map[string]func(string) error{
			"Read":   func(name string) error { _, err := smallfile.Read(name); return err },
			"Secret": func(name string) error { _, err := smallfile.Secret(name); return err },
		} {
			if err := read(name); err == nil || !strings.Contains(err.Error(), name+" is not a regular file") {
				t.Errorf("%s of a %s: %v", form, kind, err)
			}
		}
	}
}

// A file is small, also behind a link, and a large one takes no memory (policy H12).
func TestFilesAreSmall_H12(t *testing.T) {
	t.Parallel()
	target := filepath.Join(t.TempDir(), "file")
	name := target + "-link"
	if err := errors.Join(os.WriteFile(target, nil, 0o600), os.Symlink(target, name)); err != nil {
		t.Fatal(err)
	}
	for size, want := range map[int]string{
		0: "", 1: "", smallfile.MaxBytes: "", smallfile.MaxBytes + 1: "more than 65536 bytes", 100 << 20: "more than 65536 bytes",
	} {
		if err := os.Truncate(target, int64(size)); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, err := smallfile.Read(name)
		if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 10<<20 {
			t.Errorf("%d bytes: the read takes %d bytes of memory", size, after.TotalAlloc-before.TotalAlloc)
		}
		if want == "" && (err != nil || len(got) != size) || want != "" && (err == nil || !strings.Contains(err.Error(), want) || got != nil) {
			t.Errorf("%d bytes: %d, %v", size, len(got), err)
		}
	}
	if _, err := smallfile.Read(name + "-missing"); !os.IsNotExist(err) || strings.Count(err.Error(), name) != 1 {
		t.Error(err)
	}
}

func TestSecrets_H12(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	target, link := filepath.Join(folder, "..data"), filepath.Join(folder, "secret")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	const empty, control = "is empty", "contains a control character"
	for content, want := range map[string]struct{ secret, err string }{
		"s3cret":              {"s3cret", ""},
		"s3cret\n":            {"s3cret", ""},
		"s3cret\r\n":          {"s3cret", ""},
		"\ufeffs3cret\r\n":    {"s3cret", ""},
		" two words \n":       {" two words ", ""},
		"пароль é\n":          {"пароль é", ""},
		"\xe9\n":              {"\xe9", ""}, // a secret in another encoding
		"":                    {"", empty},
		"\n":                  {"", empty},
		" \n\n":               {"", empty},
		"\ufeff":              {"", empty},
		"s3cret\n\n":          {"", control},
		"s3cret\r":            {"", control},
		"s3cret\r\r\n":        {"", control},
		"a\nb":                {"", control},
		"a\tb":                {"", control},
		"a\x00b":              {"", control},
		"a\u0085b":            {"", control},
		"\x1b[2J":             {"", control},
		"\x00\x00\x00":        {"", control},
		"\xff\xfes\x00\n\x00": {"", control}, // UTF-16
	} {
		if err := os.WriteFile(target, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := smallfile.Secret(link)
		if got != want.secret || (err == nil) != (want.err == "") || err != nil && !strings.Contains(err.Error(), link+" "+want.err) {
			t.Errorf("%q: %q, %v; want %v", content, got, err, want)
		}
		if err != nil && content != "" && strings.Contains(err.Error(), content) && len(content) > 2 {
			t.Errorf("%q: the error contains the secret: %v", content, err)
		}
	}
}

// A configuration may be a pipe, but a read of it ends.
func TestAConfigurationIsReadWithinATime_H12(t *testing.T) {
	t.Parallel()
	kinds := special(t)
	if _, err := smallfile.Configuration(kinds["FIFO"]); err == nil || !strings.Contains(err.Error(), kinds["FIFO"]+" was not read within 5s") {
		t.Error(err)
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.WriteString("http: {}\n"); err != nil {
		t.Fatal(err)
	}
	_ = writer.Close()
	defer func() { _ = reader.Close() }()
	got, err := smallfile.Configuration(fmt.Sprintf("/dev/fd/%d", reader.Fd()))
	if err != nil || string(got) != "http: {}\n" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestOpenToOthers_H12(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "file")
	for mode, want := range map[os.FileMode]bool{0o600: false, 0o640: false, 0o644: true, 0o604: true, 0o666: true, 0o602: true} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
		if got := smallfile.OpenToOthers(name); got != want {
			t.Errorf("%o: %v", mode, got)
		}
	}
	if smallfile.OpenToOthers(name + "-missing") {
		t.Error("a missing file")
	}
}

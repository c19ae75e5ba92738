package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coreos/go-systemd/v22/unit"

	"larder.local/cmd/larder/cli"
	"larder.local/internal/testkit/clitest"
)

const dockerfile = "../../Dockerfile"

// image is the last stage of the Dockerfile.
type image struct {
	copies [][2]string // from, to
	env    []string
	user   string
	health []string
	start  []string
}

// imageOf reads the stage. An unknown instruction fails the test, so that no
// instruction is ignored.
func imageOf(t *testing.T) image {
	t.Helper()
	text, err := os.ReadFile(dockerfile)
	if err != nil {
		t.Fatal(err)
	}
	stage := string(text)[strings.LastIndex(string(text), "\nFROM ")+1:]
	stage = strings.ReplaceAll(stage, "\\\n", " ")
	var made image
	words := func(list string) (found []string) {
		if err := json.Unmarshal([]byte(list), &found); err != nil {
			t.Fatalf("%s: %v", list, err)
		}
		return found
	}
	for line := range strings.Lines(stage) {
		instruction, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch fields := strings.Fields(rest); instruction {
		case "", "#", "EXPOSE":
		case "FROM":
			if rest != "scratch" {
				t.Errorf("FROM %s, not scratch", rest)
			}
		case "COPY":
			made.copies = append(made.copies, [2]string{fields[len(fields)-2], fields[len(fields)-1]})
		case "USER":
			made.user = rest
		case "ENV":
			made.env = fields
		case "HEALTHCHECK":
			made.health = words(rest[strings.Index(rest, "["):])
		case "ENTRYPOINT", "CMD":
			made.start = append(made.start, words(rest)...)
		default:
			t.Fatalf("the test does not know the Dockerfile's %s", instruction)
		}
	}
	return made
}

// unpack creates the root file system of the stage, read-only.
func (i image) unpack(t *testing.T) (root string) {
	t.Helper()
	root = filepath.Join(t.TempDir(), "root")
	for _, each := range i.copies {
		from, to := each[0], filepath.Join(root, each[1])
		switch {
		case from == "/out/larder":
			from = built
		case !filepath.IsAbs(from):
			from = filepath.Join("../..", from)
		}
		if strings.HasSuffix(each[1], "/") {
			to = filepath.Join(to, filepath.Base(from))
		}
		content, err := os.ReadFile(from)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(to), 0o755)
		}
		if err == nil {
			err = os.WriteFile(to, content, 0o555)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	modes := func(mode fs.FileMode) {
		if err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				err = os.Chmod(path, mode)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	modes(0o555)
	t.Cleanup(func() { modes(0o755) })
	return root
}

// within runs a command with the folder as its root and with the image's user. Without
// root rights it uses a user namespace, if the kernel allows that.
func (i image) within(t *testing.T, root string, env, words []string) *exec.Cmd {
	t.Helper()
	const id = 65532
	if i.user != "65532:65532" {
		t.Fatalf("USER %s, want 65532:65532", i.user)
	}
	cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
	cmd.Dir = "/"
	cmd.Env = slices.Concat(i.env, env)
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
	if os.Getuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: id, Gid: id}
		return cmd
	}
	cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
	cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: id, HostID: os.Getuid(), Size: 1}}
	cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: id, HostID: os.Getgid(), Size: 1}}
	return cmd
}

// TestImage does what the Dockerfile does, without a container engine. It checks that
// the root contains only the copied files, is read-only, has the image's user, and
// that the start and the health check work. Only the ports differ.
func TestImage(t *testing.T) {
	t.Parallel()
	made, service := imageOf(t), newService(t)
	root := made.unpack(t)
	env := []string{
		"LARDER_HTTP_LISTEN=127.0.0.1:0", "LARDER_LOG_FORMAT=json", "LARDER_CONNECTIONS_0_NAME=main",
		"LARDER_CONNECTIONS_0_CLIENT_ID=demo", "LARDER_CONNECTIONS_0_CLIENT_SECRET=demo-secret",
		"LARDER_CONNECTIONS_0_BASE_URL=" + service.URL, "LARDER_CONNECTIONS_0_AUTH_URL=" + service.URL,
	}
	p := &process{cmd: made.within(t, root, env, made.start), log: clitest.NewWatched()}
	p.cmd.Stderr = p.log
	if err := p.cmd.Start(); err != nil {
		if os.Getuid() != 0 && os.IsPermission(err) {
			t.Skipf("without root this test needs a user namespace, which the kernel does not allow: %v", err)
		}
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	})
	base := p.url(t)
	waitReady(t, base)
	health := made.within(t, root, append(env, "LARDER_HTTP_LISTEN="+strings.TrimPrefix(base, "http://")), made.health)
	if output, err := health.CombinedOutput(); err != nil {
		t.Errorf("the health check of a larder that is ready: %v\n%s", err, output)
	}
	if who, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.cmd.Process.Pid), "status")); err != nil || os.Getuid() == 0 && !strings.Contains(string(who), "\nUid:\t65532\t65532\t65532\t65532\n") {
		t.Errorf("larder does not run as 65532: %v\n%s", err, who)
	}
	p.signal(t, syscall.SIGTERM)
	if status := p.status(t); status != cli.StatusDone {
		t.Errorf("status %d, want 0\n%s", status, p.log)
	}
	health = made.within(t, root, append(env, "LARDER_HTTP_LISTEN="+strings.TrimPrefix(base, "http://")), made.health)
	if output, err := health.CombinedOutput(); err == nil {
		t.Errorf("the health check of a larder that is gone is content:\n%s", output)
	}
	var left []string
	if err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			left = append(left, strings.TrimPrefix(path, root))
		}
		return err
	}); err != nil || len(left) != len(made.copies) {
		t.Errorf("after the run the image holds %q (%v), want what was copied", left, err)
	}
}

// TestImageIsBuiltAsShipped checks that the Dockerfile and make build use the same
// flags.
func TestImageIsBuiltAsShipped(t *testing.T) {
	t.Parallel()
	flags := func(file, tags string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(`go build (-trimpath -tags \S+ -ldflags \S-s -w -X main\.version=)\S+ -o \S+ \./cmd/larder`).FindStringSubmatch(string(text))
		if found == nil {
			t.Fatalf("%s builds no larder", file)
		}
		return strings.NewReplacer(tags, "nomsgpack", `"`, "'").Replace(found[1])
	}
	if made, built := flags(dockerfile, "nomsgpack"), flags("../../Makefile", "$(TAGS)"); made != built {
		t.Errorf("the Dockerfile builds with %q, make build with %q", made, built)
	}
}

const unitFile = "../../deploy/systemd/larder.service"

// mostExposed is the highest allowed result of `systemd-analyze security` in tenths.
// The unit has 12, mostly because of the network.
const mostExposed = 15

// unitOf reads the settings of the unit in their order.
func unitOf(t *testing.T) map[string][]string {
	t.Helper()
	file, err := os.Open(unitFile)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	options, err := unit.DeserializeOptions(file)
	if err != nil {
		t.Fatal(err)
	}
	settings := map[string][]string{}
	for _, option := range options {
		settings[option.Name] = append(settings[option.Name], option.Value)
	}
	return settings
}

// TestUnit runs systemd-analyze for the unit and its program.
func TestUnit(t *testing.T) {
	t.Parallel()
	const analyze = "systemd-analyze"
	if _, err := exec.LookPath(analyze); err != nil {
		t.Fatalf("%v: apt-get install systemd, or tools/test-needs", err)
	}
	text, err := os.ReadFile(unitFile)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "larder.service")
	here := strings.ReplaceAll(string(text), "/usr/local/bin/larder", built)
	if err := os.WriteFile(path, []byte(here), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"verify", "--man=no", path},
		{"security", "--offline=true", "--no-pager", "--threshold=" + strconv.Itoa(mostExposed), path},
	} {
		output, err := exec.CommandContext(t.Context(), analyze, args...).CombinedOutput()
		if err != nil || args[0] == "verify" && len(output) > 0 {
			t.Errorf("systemd-analyze %s: %v\n%s", args[0], err, output)
		}
	}
}

// TestUnitFitsItsConfiguration checks that the unit allows what larder needs with
// deploy/systemd/larder.yaml.
func TestUnitFitsItsConfiguration(t *testing.T) {
	t.Parallel()
	settings := unitOf(t)
	cfg := deployed(t, "systemd/larder.yaml")
	seconds := func(name string) time.Duration {
		n, err := strconv.Atoi(strings.Join(settings[name], " "))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return time.Duration(n) * time.Second
	}
	if files, err := strconv.Atoi(strings.Join(settings["LimitNOFILE"], " ")); err != nil || files-files/8 < cfg.HTTP.MaxConnections {
		t.Errorf("LimitNOFILE=%d (%v) does not do for http.max_connections %d", files, err, cfg.HTTP.MaxConnections)
	}
	if within := seconds("WatchdogSec"); within/checksPerWatchdog < time.Second {
		t.Errorf("WatchdogSec=%v is too short for a busy machine", within)
	}
	if state := "/var/lib/" + strings.Join(settings["StateDirectory"], " "); !strings.HasPrefix(cfg.Ordering.StateDir, state+"/") {
		t.Errorf("ordering.state_dir %s is not in the unit's StateDirectory %s", cfg.Ordering.StateDir, state)
	}
	// Not Requires: a restart of Redis must not stop larder.
	const redis = "redis-server.service"
	if !strings.Contains(strings.Join(settings["Wants"], " "), redis) || !strings.Contains(strings.Join(settings["After"], " "), redis) || settings["Requires"] != nil {
		t.Errorf("Wants=%v After=%v Requires=%v, want %s wanted, not required", settings["Wants"], settings["After"], settings["Requires"], redis)
	}
	if got := strings.Join(settings["LimitCORE"], " "); got != "0" {
		t.Errorf("LimitCORE=%s: a crash would write guests' data to disk", got)
	}
	if got := strings.Join(settings["Type"], " "); got != "notify" {
		t.Errorf("Type=%s", got)
	}
}

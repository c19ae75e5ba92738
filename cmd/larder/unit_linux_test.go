package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-systemd/v22/unit"
)

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

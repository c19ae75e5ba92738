package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"larder.local/internal/testkit/clitest"
)

// The folders of the scenarios and of their screenshots.
const (
	scenarioFolder   = "../../tools/browser"
	screenshotFolder = "../../.cache/screenshots" // of failures
	statesFolder     = "../../.cache/browser"     // of every state, with LARDER_THOROUGH
)

// scenarioLimit is the time limit of one scenario, including the start of its browser.
// The longest scenario needs a tenth of it on an idle machine. With LARDER_THOROUGH, a
// scenario runs in up to 32 combinations.
const (
	scenarioLimit = 5 * time.Minute
	matrixLimit   = time.Hour
)

// browser runs scenarios with Node and Chromium.
type browser struct {
	node, chromium, screenshots string
	limit                       time.Duration // of a scenario
	env                         []string      // for scenarios, such as addresses
}

// newBrowser finds the programs and packages that scenarios need, or skips the test.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: no browser is started")
	}
	b := &browser{node: installed(t, "node"), chromium: chromium(t), screenshots: screenshotFolder, limit: scenarioLimit}
	if os.Getenv("LARDER_THOROUGH") != "" {
		b.screenshots, b.limit = statesFolder, matrixLimit
	}
	if _, err := os.Stat(filepath.Join(scenarioFolder, "node_modules", "playwright-core")); err != nil {
		t.Fatalf("playwright-core is not installed: make test-needs installs it (%v)", err)
	}
	var err error
	if b.screenshots, err = filepath.Abs(b.screenshots); err != nil {
		t.Fatal(err)
	}
	return b
}

// chromium returns the path of the browser of LARDER_CHROMIUM (CHROMIUM of make), or of an installed one.
func chromium(t *testing.T) string {
	t.Helper()
	name := os.Getenv("LARDER_CHROMIUM")
	if name == "" {
		return installed(t, "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
	}
	path, err := exec.LookPath(name)
	if err != nil || !filepath.IsAbs(path) {
		t.Fatalf("LARDER_CHROMIUM is %q: set it to an absolute path or the name of a program (%v)", name, err)
	}
	return path
}

// installed returns the path of the first of these programs that is installed.
func installed(t *testing.T, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatalf("%s is not installed: make test-needs installs it; go test -short leaves browsers out", names[0])
	return ""
}

// run runs the scenarios of a folder below tools/browser one after the other, because
// they share one demo.
func (b *browser) run(t *testing.T, folder string) {
	t.Helper()
	for _, name := range scenarios(t, folder) {
		t.Run(name, func(t *testing.T) { b.scenario(t, folder, name+".mjs", b.env) })
	}
}

// runOn runs the scenarios of a folder in parallel, each alone on one of these demos.
func (b *browser) runOn(t *testing.T, folder string, demos ...[]string) {
	t.Helper()
	free := make(chan []string, len(demos))
	for _, demo := range demos {
		free <- demo
	}
	for _, name := range scenarios(t, folder) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			demo := <-free
			defer func() { free <- demo }()
			b.scenario(t, folder, name+".mjs", demo)
		})
	}
}

// scenarios returns the names of the scenarios of a folder below tools/browser.
func scenarios(t *testing.T, folder string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(scenarioFolder, folder, "*.mjs"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no scenario in %s, %v", folder, err)
	}
	for i, file := range names {
		names[i] = strings.TrimSuffix(filepath.Base(file), ".mjs")
	}
	return names
}

// scenario runs one file. When it is interrupted, it closes its browser.
func (b *browser) scenario(t *testing.T, folder, file string, env []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), b.limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.node, filepath.Join(folder, file))
	cmd.Dir, cmd.WaitDelay = scenarioFolder, 10*time.Second
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Env = append(append(os.Environ(), "LARDER_BROWSER="+b.chromium, "LARDER_SCREENSHOTS="+b.screenshots), env...)
	output, err := cmd.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		t.Errorf("not done within %v\n%s", b.limit, output)
	case err != nil:
		t.Errorf("%v; pictures are in %s\n%s", err, b.screenshots, output)
	default:
		t.Logf("%s", output)
	}
}

// browsedDemo starts a demo in its own process and returns the environment for
// scenarios.
func browsedDemo(t *testing.T, args ...string) []string {
	t.Helper()
	return browsedDemoOn(t, "@every 48h", args...) // no scheduled sync during the test
}

// browsedDemoOn is browsedDemo with a sync schedule.
func browsedDemoOn(t *testing.T, schedule string, args ...string) []string {
	t.Helper()
	return browsedDemoWith(t, []string{"LARDER_RESTAURANTS_0_SCHEDULE=" + schedule, "LARDER_SYNC_SCHEDULE=" + schedule}, args...)
}

// browsedDemoWith is browsedDemo with environment variables.
func browsedDemoWith(t *testing.T, more []string, args ...string) []string {
	t.Helper()
	out := clitest.NewWatched()
	env := append([]string{
		"LARDER_RESTAURANTS_0_PHONE=+351 22 000 00 00, ext. 4", "LARDER_RESTAURANTS_0_ADDRESS=Rua das Flores 1, Porto",
		"LARDER_RESTAURANTS_0_GUEST_PHONE=+351 22 000 00 01",
		"LARDER_HTTP_METRICS=open", // a scenario reads the metrics
		"LARDER_AUTH_CLIENTS_3_ID=viewer", "LARDER_AUTH_CLIENTS_3_SECRET=viewer-secret", "LARDER_AUTH_CLIENTS_3_SCOPES=ops.read",
	}, more...)
	startProcessTo(t, out, env, append([]string{"demo", "--listen", "127.0.0.1:0", "--sandbox-listen", "127.0.0.1:0"}, args...)...)
	return []string{
		"LARDER_URL=" + out.Find(t, `(http://\S+)/v1/restaurants\n`)[1],
		"LARDER_SANDBOX=" + out.Find(t, `(http://\S+)/sandbox/orders   what`)[1],
		"LARDER_OPS_ID=ops", "LARDER_OPS_SECRET=ops-secret",
	}
}

// TestBrowser runs tools/browser/scenarios in a real browser against demos with the
// bistro, two at a time. Screenshots of failures are in .cache/screenshots. With
// LARDER_THOROUGH, guests' scenarios run in all combinations of tools/browser/matrix.mjs,
// and screenshots of all states are in .cache/browser.
func TestBrowser(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	b.runOn(t, "scenarios", browsedDemo(t), browsedDemo(t))
}

// TestBrowserOps runs tools/browser/ops, the operator console, against its own demo,
// because the scenarios change menus.
func TestBrowserOps(t *testing.T) { //nolint:tparallel // its scenarios share a demo
	t.Parallel()
	b := newBrowser(t)
	b.env = browsedDemo(t)
	b.run(t, "ops")
}

// TestOtherEngines runs tools/browser/engines: a guest orders in Firefox and in WebKit. make engines runs it, with a display.
func TestOtherEngines(t *testing.T) {
	if os.Getenv("LARDER_ENGINES") == "" {
		t.Skip("make engines runs it")
	}
	t.Parallel()
	small, err := filepath.Glob("/usr/lib*/*/webkit2gtk-4.*/MiniBrowser")
	if err != nil || len(small) == 0 {
		t.Fatalf("WebKit's MiniBrowser is not installed: tools/test-needs engines installs it (%v)", err)
	}
	b := newBrowser(t)
	b.env = append(browsedDemo(t), "LARDER_FIREFOX="+installed(t, "firefox-esr", "firefox"),
		"LARDER_WEBKIT="+installed(t, "WebKitWebDriver"), "LARDER_MINIBROWSER="+small[0])
	b.run(t, "engines")
}

// TestBrowserThousands runs tools/browser/thousands, the console, against a demo with 300
// restaurants, or 1,000 with LARDER_THOROUGH, each synced every two minutes. The first sync
// takes most of the processor time.
func TestBrowserThousands(t *testing.T) { //nolint:tparallel // its scenarios share a demo
	t.Parallel()
	b := newBrowser(t)
	number := "300"
	if os.Getenv("LARDER_THOROUGH") != "" {
		number = "1000"
	}
	b.env = append(browsedDemoOn(t, "@every 2m", "--restaurants", number, "--products", "20"), "LARDER_RESTAURANTS="+number)
	b.run(t, "thousands")
}

// TestBrowserBrand runs tools/browser/brand, the page at / with a brand, against a demo with
// 200 restaurants.
func TestBrowserBrand(t *testing.T) { //nolint:tparallel // its scenarios share a demo
	t.Parallel()
	b := newBrowser(t)
	b.env = browsedDemoWith(t, []string{"LARDER_SYNC_SCHEDULE=@every 48h", "LARDER_HTTP_PAGE_COLOR=#ffcc00"}, "--restaurants", "200", "--products", "20")
	b.run(t, "brand")
}

// TestBrowserHours runs tools/browser/hours against a demo whose restaurant opens in two days, for an hour.
func TestBrowserHours(t *testing.T) { //nolint:tparallel // its scenarios share a demo
	t.Parallel()
	b := newBrowser(t)
	day := strings.ToUpper(time.Now().UTC().AddDate(0, 0, 2).Weekday().String()[:3])
	b.env = browsedDemoWith(t, []string{
		"LARDER_SYNC_SCHEDULE=@every 48h", "LARDER_RESTAURANTS_0_TIME_ZONE=UTC", "LARDER_RESTAURANTS_0_HOURS_ALL_" + day + "=11:00-12:00",
		"LARDER_RESTAURANTS_0_LEAD_TIME_PICKUP=20m",
	})
	b.run(t, "hours")
}

// TestBrowserHoursPaused runs tools/browser/pauses against a demo whose restaurant is always open, and whose operators pause orders.
func TestBrowserHoursPaused(t *testing.T) { //nolint:tparallel // its scenarios share a demo
	t.Parallel()
	b := newBrowser(t)
	b.env = browsedDemoWith(t, []string{"LARDER_SYNC_SCHEDULE=@every 48h", "LARDER_RESTAURANTS_0_TIME_ZONE=UTC"})
	b.run(t, "pauses")
}

// TestBrowserLarge runs its scenarios against a menu of 400 dishes. With LARDER_THOROUGH, they measure times.
func TestBrowserLarge(t *testing.T) { //nolint:paralleltest // it measures times
	b := newBrowser(t)
	b.env = browsedDemo(t, "--restaurants", "1", "--products", "400")
	b.run(t, "large")
}

// TestBrowserHuge runs its scenario against a menu of 5,000 dishes. With LARDER_THOROUGH, it measures times.
func TestBrowserHuge(t *testing.T) { //nolint:paralleltest // it measures times
	b := newBrowser(t)
	b.env = browsedDemo(t, "--restaurants", "1", "--products", "5000")
	b.run(t, "huge")
}

package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"larder.local/cmd/larder/cli"
	"larder.local/configs"
	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/clitest"
)

// typist types at a real terminal.
type typist struct {
	t      *testing.T
	file   *os.File
	cmd    *exec.Cmd
	screen *clitest.Watched
	ended  chan error
}

// sit starts larder on its own terminal.
func sit(t *testing.T, args ...string) *typist {
	t.Helper()
	p := &typist{
		t:      t,
		cmd:    exec.CommandContext(t.Context(), built, args...),
		screen: clitest.NewWatched(),
		ended:  make(chan error, 1),
	}
	p.cmd.Env = []string{"TERM=xterm", "PATH=" + os.Getenv("PATH")}
	file, err := pty.StartWithSize(p.cmd, &pty.Winsize{Rows: 30, Cols: 100})
	if err != nil {
		t.Fatal(err)
	}
	p.file = file
	read := make(chan struct{})
	go func() {
		defer close(read)
		buffer := make([]byte, 4096)
		for {
			n, err := file.Read(buffer)
			_, _ = p.screen.Write(buffer[:n])
			if err != nil { // the terminal ends with its last program
				return
			}
		}
	}()
	go func() { p.ended <- p.cmd.Wait() }()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-read
		_ = file.Close()
	})
	return p
}

// sees waits for a text and then types a line.
func (p *typist) sees(pattern, types string) {
	p.t.Helper()
	p.screen.Find(p.t, pattern)
	if _, err := p.file.WriteString(types); err != nil {
		p.t.Fatal(err)
	}
}

func (p *typist) status() int {
	p.t.Helper()
	select {
	case <-p.ended: //nolint:errcheck // the status is checked
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(clitest.WaitLimit):
		p.t.Fatalf("it does not end:\n%s", p.screen)
		return 0
	}
}

func TestInitAtATerminal(t *testing.T) {
	t.Parallel()
	url := clitest.OrderingService(t, sandbox.Config{})
	file := filepath.Join(t.TempDir(), "larder.yaml")
	p := sit(t, "init", file)
	p.sees(`Address of the ordering service \(http:// or https://\): $`, url+"\n")
	p.sees(`Address of its token endpoint \[`+url+`\]: $`, "\n")
	p.sees(`Client id: $`, "demo\n")
	p.sees(`Client secret \(not shown\): $`, "wrong-secret\n")
	p.sees(`FAILED(?s:.*)enter them again \[y/N\]: $`, "\n")
	p.sees(`Address of the ordering service \(http:// or https://\) \[`+url+`\]: $`, "\n")
	p.sees(`(?s)enter them again.*Address of its token endpoint \[`+url+`\]: $`, "\n")
	p.sees(`Client id \[demo\]: $`, "\n")
	p.sees(`(?s)Client id \[demo\].*Client secret \(not shown\): $`, "demo-secret\n")
	p.sees(`Enter for none now: $`, sandbox.BistroID+"\n")
	p.sees(`Display name \[`+sandbox.BistroID+`\]: $`, "Bistro\n")
	p.sees(`\[embedded\]: $`, "embedded\n")
	if status := p.status(); status != cli.StatusDone {
		t.Fatalf("status %d:\n%s", status, p.screen)
	}
	p.screen.Find(t, `Only you can read it`)
	p.screen.Find(t, `appendonly yes\s+maxmemory-policy noeviction`)
	if text := p.screen.String(); strings.Contains(text, "demo-secret") || strings.Contains(text, "wrong-secret") {
		t.Errorf("the secret is shown:\n%s", text)
	}
	if cfg, err := configs.Load(file, nil); err != nil || cfg.Connections[0].ClientSecret != "demo-secret" || cfg.Restaurants[0].Name != "Bistro" {
		t.Errorf("init wrote %+v: %v", cfg, err)
	}
}

// All answers are pasted at the first question. Most of them arrive while another
// question is open or a token is requested.
func TestInitAtATerminal_PastedAtOnce(t *testing.T) {
	t.Parallel()
	url := clitest.OrderingService(t, sandbox.Config{})
	file := filepath.Join(t.TempDir(), "larder.yaml")
	p := sit(t, "init", file)
	p.sees(`Address of the ordering service \(http:// or https://\): $`, url+"\n\ndemo\ndemo-secret\n"+sandbox.BistroID+"\nBistro\nembedded\nleft-over-secret\n")
	if status := p.status(); status != cli.StatusDone {
		t.Fatalf("status %d:\n%s", status, p.screen)
	}
	p.screen.Find(t, `Client id: demo\r+\nClient secret \(not shown\): \r+\n`)
	if text := p.screen.String(); strings.Contains(text, "secret\r") || strings.Contains(text, "demo-secret") {
		t.Errorf("a secret is shown:\n%s", text)
	}
	cfg, err := configs.Load(file, nil)
	if err != nil || cfg.Connections[0].ClientSecret != "demo-secret" || cfg.Restaurants[0].Name != "Bistro" {
		t.Errorf("init wrote %+v: %v", cfg, err)
	}
}

// Ctrl-C is a signal at each question. Text that was pasted before it is not printed.
func TestInitAtATerminal_CtrlCAfterAPaste(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "larder.yaml")
	p := sit(t, "init", file)
	p.sees(`Address of the ordering service \(http:// or https://\): $`, "http://127.0.0.1:1\n\ndemo\nsecret-of-the-shop")
	p.sees(`Client secret \(not shown\): $`, "\x03")
	if status := p.status(); status != cli.StatusFailed {
		t.Errorf("init ends with %d:\n%s", status, p.screen)
	}
	p.screen.Find(t, `interrupted: nothing was written`)
	if text := p.screen.String(); strings.Contains(text, "secret-of-the-shop") {
		t.Errorf("the secret is shown:\n%s", text)
	}
}

func TestCtrlCEndsInitAndAWatch(t *testing.T) {
	t.Parallel()
	const ctrlC = "\x03"
	file := filepath.Join(t.TempDir(), "larder.yaml")
	asked := sit(t, "init", file, "--base-url", "http://127.0.0.1:1", "--auth-url", "http://127.0.0.1:1", "--client-id", "demo")
	asked.sees(`Client secret \(not shown\): $`, ctrlC)
	if status := asked.status(); status != cli.StatusFailed {
		t.Errorf("init ends with %d:\n%s", status, asked.screen)
	}
	asked.screen.Find(t, `interrupted: nothing was written`)
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("there is a file all the same: %v", err)
	}

	base := clitest.Daemon(t, map[string]http.HandlerFunc{
		"GET /readyz":         clitest.Says(200, `{"status":"ok","parts":{"redis":{"ok":true,"msg":""}}}`),
		"GET /v1/restaurants": clitest.Says(200, `{"result":[{"id":"r1","name":"r1","version":4,"lastOutcome":"unchanged"}],"next":null}`),
		"GET /v1/ops/orders":  clitest.Says(200, `{"result":[],"next":null}`),
	})
	watch := sit(t, clitest.AsOps(base, "status", "--watch", "--every", "200ms")...)
	watch.sees(`restaurants: 1 restaurant, 1 ok`, ctrlC)
	if status := watch.status(); status != cli.StatusDone {
		t.Errorf("a watch ends with %d:\n%s", status, watch.screen)
	}
	sit(t, "status", "--url", base).screen.Find(t, `: \x1b\[32mok`) // green, because it is a terminal
}

// bashCompletes defines the one function of the package bash-completion that the
// script needs, and prints the completions of the Tab key.
const bashCompletes = `
_get_comp_words_by_ref() {
  while [ $# -gt 0 ]; do case $1 in -n) shift 2;; *) break;; esac; done
  words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=${COMP_WORDS[COMP_CWORD]}; prev=${COMP_WORDS[COMP_CWORD-1]}
}
source <(larder completion bash) || exit 1
complete -p larder || exit 1
COMP_WORDS=(larder sync --url "$1" nor); COMP_CWORD=4; COMP_LINE="larder sync --url $1 nor"; COMP_POINT=${#COMP_LINE}; COMP_TYPE=9
__start_larder
printf 'offered %s\n' "${COMPREPLY[@]}"
`

func TestCompletionInBash(t *testing.T) {
	t.Parallel()
	base := clitest.Daemon(t, map[string]http.HandlerFunc{
		"GET /v1/restaurants": clitest.Says(200, `{"result":[{"id":"north","name":"north"},{"id":"south","name":"south"}],"next":null}`),
	})
	shell := exec.CommandContext(t.Context(), "bash", "-c", bashCompletes, "bash", base)
	shell.Env = append(os.Environ(), "PATH="+filepath.Dir(built)+":"+os.Getenv("PATH"))
	out, err := shell.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "-F __start_larder larder\n") || !strings.HasSuffix(string(out), "\noffered north\n") {
		t.Errorf("bash: %v\n%s\nwant a completion for larder, and north offered", err, out)
	}
	for shell, begins := range map[string]string{"zsh": "#compdef larder", "fish": "# fish completion for larder"} {
		if script := must(t, "completion", shell); !strings.HasPrefix(script, begins) {
			t.Errorf("completion %s begins with %.40q, want %q", shell, script, begins)
		}
	}
}

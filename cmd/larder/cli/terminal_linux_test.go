package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// initOnTerminal is larder init in a process of its own, on a new terminal.
type initOnTerminal struct {
	t        *testing.T
	terminal *os.File // the side of the user
	process  *os.Process
	mu       sync.Mutex
	screen   bytes.Buffer
}

func startInit(t *testing.T) *initOnTerminal {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	if err := unix.IoctlSetPointerInt(int(user.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(user.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	side, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "LARDER_TEST_INIT=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = side, side, side
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &initOnTerminal{t: t, terminal: user, process: cmd.Process}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 4096)
		for {
			n, err := user.Read(buf)
			if err != nil {
				return
			}
			p.mu.Lock()
			p.screen.Write(buf[:n])
			p.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = side.Close() // the last one, so that the read ends
		<-done
		_ = user.Close()
	})
	return p
}

func (p *initOnTerminal) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.screen.String()
}

func (p *initOnTerminal) await(what string, reached func() bool) {
	p.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); !reached(); <-tick.C {
		if time.Now().After(deadline) {
			p.t.Fatalf("not reached: %s; the screen shows %q", what, p.text())
		}
	}
}

func (p *initOnTerminal) shows(text string) {
	p.t.Helper()
	p.await(text, func() bool { return strings.Contains(p.text(), text) })
}

func (p *initOnTerminal) enters(line string) {
	p.t.Helper()
	if _, err := p.terminal.WriteString(line + "\r"); err != nil {
		p.t.Fatal(err)
	}
}

func (p *initOnTerminal) echoes() bool {
	settings, err := unix.IoctlGetTermios(int(p.terminal.Fd()), unix.TCGETS)
	return err == nil && settings.Lflag&unix.ECHO != 0 && settings.Lflag&unix.ICANON != 0
}

// A secret that is pasted where init asks for a URL is not shown.
func TestInitHidesASecretInsteadOfAURL(t *testing.T) {
	t.Parallel()
	p := startInit(t)
	p.shows("Address of the ordering service")
	p.enters("hidden-4711")
	p.shows(notAddress("--base-url"))
	p.enters("http://127.0.0.1:1")
	p.shows("Address of its token endpoint")
	if text := p.text(); strings.Contains(text, "hid") || strings.Contains(text, "4711") || !strings.Contains(text, "http://127.0.0.1:1") {
		t.Errorf("the screen shows %q", text)
	}
}

// Ctrl-Z leaves the terminal with its settings, and the prompt hides its input again afterwards.
func TestInitRestoresTheTerminalWhenStopped(t *testing.T) {
	t.Parallel()
	p := startInit(t)
	for _, step := range [][2]string{
		{"Address of the ordering service", "http://127.0.0.1:1"}, {"token endpoint", ""}, {"Client id", "demo"},
	} {
		p.shows(step[0])
		p.enters(step[1])
	}
	p.shows("Client secret")
	p.await("a terminal without echo", func() bool { return !p.echoes() })
	if err := p.process.Signal(unix.SIGTSTP); err != nil {
		t.Fatal(err)
	}
	p.await("the stop", func() bool {
		var status unix.WaitStatus
		pid, err := unix.Wait4(p.process.Pid, &status, unix.WUNTRACED|unix.WNOHANG, nil)
		return err == nil && pid == p.process.Pid && status.Stopped()
	})
	if !p.echoes() {
		t.Error("the terminal has no echo while init is stopped")
	}
	if err := p.process.Signal(unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	p.await("a terminal without echo again", func() bool { return !p.echoes() })
	p.enters("hidden-4711")
	p.shows("FAILED")
	if strings.Contains(p.text(), "4711") {
		t.Errorf("the screen shows the secret: %q", p.text())
	}
}

package measure

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// Machine describes the machine and the programs of a measurement.
type Machine struct {
	Cores int    `json:"cores"`
	CPU   string `json:"cpu"`
	Go    string `json:"go"` // version that built larder
	Redis string `json:"redis"`
	Build string `json:"build"` // of larder
}

// ThisMachine describes this machine and the version of larder. The version of Redis
// is unknown until one runs.
func ThisMachine(ctx context.Context, larder string) (Machine, error) {
	m := Machine{Cores: runtime.NumCPU(), CPU: cpuModel()}
	ctx, cancel := context.WithTimeout(ctx, listenWithin)
	defer cancel()
	text, err := exec.CommandContext(ctx, larder, "version", "--json").Output()
	if err != nil {
		return m, fmt.Errorf("measure: version of %s: %w", larder, err)
	}
	var version struct {
		Version string `json:"version"`
		Go      string `json:"go"`
	}
	if err := json.Unmarshal(text, &version); err != nil {
		return m, fmt.Errorf("measure: version of %s: %w", larder, err)
	}
	m.Go, m.Build = version.Go, version.Version
	return m, nil
}

// cpuModel returns the name of the processor.
func cpuModel() string {
	file, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if name, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

package peers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// connections is the number of open connections, each with one request at a time.
const connections = 64

// counted is the result of one run of wrk.
type counted struct {
	requests  int
	perSecond float64
	bytes     float64 // received, to two decimals of wrk's unit
}

var (
	wrkTotal  = regexp.MustCompile(`(?m)^\s*(\d+) requests in [\d.]+\w+, ([\d.]+)([KMGT]?)B read$`)
	wrkRate   = regexp.MustCompile(`(?m)^Requests/sec:\s+([\d.]+)$`)
	wrkFaults = regexp.MustCompile(`(?m)^\s*(Socket errors: .*|Non-2xx or 3xx responses: .*)$`)
)

// readWrk parses the output of wrk. A run with failures is an error.
func readWrk(text string) (counted, error) {
	if fault := wrkFaults.FindString(text); fault != "" {
		return counted{}, errors.New("wrk: " + strings.TrimSpace(fault))
	}
	total, rate := wrkTotal.FindStringSubmatch(text), wrkRate.FindStringSubmatch(text)
	if total == nil || rate == nil {
		return counted{}, fmt.Errorf("wrk printed something else than its figures:\n%.500s", text)
	}
	requests, err := strconv.Atoi(total[1])
	perSecond, rateErr := strconv.ParseFloat(rate[1], 64)
	size, sizeErr := strconv.ParseFloat(total[2], 64)
	if err := errors.Join(err, rateErr, sizeErr); err != nil {
		return counted{}, fmt.Errorf("wrk: %w", err)
	}
	if requests == 0 || perSecond <= 0 {
		return counted{}, errors.New("wrk got no answer")
	}
	if unit := total[3]; unit != "" {
		size *= math.Pow(1024, float64(1+strings.Index("KMGT", unit)))
	}
	return counted{requests, perSecond, size}, nil
}

// wrk sends requests to a target at the maximum rate for a while.
func wrk(ctx context.Context, before []string, t target, d time.Duration) (counted, error) {
	const late = 30 * time.Second // additional time for wrk
	ctx, cancel := context.WithTimeout(ctx, d+late)
	defer cancel()
	words := append(append([]string(nil), before...), "wrk", "-t1", "-c"+strconv.Itoa(connections),
		"-d"+strconv.Itoa(int(max(d.Round(time.Second), time.Second)/time.Second))+"s", "--timeout", "10s")
	for _, h := range t.header {
		words = append(words, "-H", h[0]+": "+h[1])
	}
	if t.script != "" {
		words = append(words, "-s", t.script)
	}
	words = append(words, "http://"+t.address+t.path)
	command := exec.CommandContext(ctx, words[0], words[1:]...) //nolint:gosec // G204: taskset and wrk of the PATH
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	if err := command.Run(); err != nil {
		return counted{}, fmt.Errorf("wrk: %w: %.500s", errors.Join(context.Cause(ctx), err), out.String())
	}
	return readWrk(out.String())
}

// luaPost returns a script that makes wrk send a body. Its long brackets allow any
// other brackets in the body.
func luaPost(body []byte) (string, error) {
	if bytes.Contains(body, []byte("]==]")) {
		return "", errors.New("wrk: a body with ]==] cannot stand in the script")
	}
	return "wrk.method = \"POST\"\nwrk.body = [==[" + string(body) + "]==]\n", nil
}

// Command release creates the files of a release: an archive for each platform, an
// inventory (SBOM) of the modules of each program, and SHA256SUMS. The same tree and
// version produce the same bytes on any machine at any time (decision 0040).
//
// Usage: release [-targets linux/amd64,…] ROOT VERSION OUT   (run by make release)
package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// all contains the platforms of a release.
const all = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64"

// versionForm matches a version that is safe in a file's name and after -X.
var versionForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$`)

// release is one run of the command.
type release struct {
	root    string // of the tree
	version string
	out     string    // folder of the results
	at      time.Time // the time of every file
	temp    string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	targets := flags.String("targets", all, "platforms, as GOOS/GOARCH with commas between them")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 3 {
		return errors.New("usage: release [-targets GOOS/GOARCH,…] ROOT VERSION OUT")
	}
	r := &release{root: flags.Arg(0), version: strings.TrimPrefix(flags.Arg(1), "v"), out: flags.Arg(2)}
	if !versionForm.MatchString(r.version) {
		return fmt.Errorf("%q is no version for a file's name: give one like v1.2.3", r.version)
	}
	if r.at, err = sourceDate(ctx, r.root); err != nil {
		return err
	}
	if r.temp, err = os.MkdirTemp("", "larder-release-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.temp)) }()
	if err := os.MkdirAll(r.out, 0o755); err != nil { //nolint:gosec // G301: what is released is for everyone
		return err
	}
	made, err := r.make(ctx, strings.Split(*targets, ","))
	if err != nil {
		return err
	}
	return r.sums(made)
}

// make returns the names of the files that it has created.
func (r *release) make(ctx context.Context, targets []string) (made []string, err error) {
	here, err := r.build(ctx, runtime.GOOS, runtime.GOARCH)
	if err != nil {
		return nil, err
	}
	common, err := r.common(ctx, here)
	if err != nil {
		return nil, err
	}
	for _, target := range targets {
		system, processor, found := strings.Cut(target, "/")
		if !found {
			return nil, fmt.Errorf("%q is no platform: write GOOS/GOARCH", target)
		}
		names, err := r.target(ctx, system, processor, common)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", target, err)
		}
		made = append(made, names...)
	}
	return made, nil
}

// target creates the archive and the inventory of one platform.
func (r *release) target(ctx context.Context, system, processor string, common []entry) ([]string, error) {
	program, err := r.build(ctx, system, processor)
	if err != nil {
		return nil, err
	}
	binary, err := read(program, "larder", 0o755)
	if err != nil {
		return nil, err
	}
	licences, err := r.licences(ctx, program)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("larder_%s_%s_%s", r.version, system, processor)
	entries := append(slices.Clone(common), binary, entry{name: "THIRD_PARTY_LICENSES", mode: 0o644, content: licences})
	if err := r.archive(name, entries); err != nil {
		return nil, err
	}
	if err := r.inventory(name, program, binary.content); err != nil {
		return nil, err
	}
	fmt.Println(filepath.Join(r.out, name+".tar.gz"))
	return []string{name + ".tar.gz", name + ".cdx.json"}, nil
}

// sums writes SHA256SUMS for `sha256sum -c`.
func (r *release) sums(made []string) error {
	var lines strings.Builder
	slices.Sort(made)
	for _, name := range made {
		content, err := os.ReadFile(filepath.Join(r.out, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&lines, "%x  %s\n", sha256.Sum256(content), name)
	}
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(lines.String()), 0o644) //nolint:gosec // G306: for everyone
}

// sourceDate returns SOURCE_DATE_EPOCH, or the time of the last commit.
func sourceDate(ctx context.Context, root string) (time.Time, error) {
	seconds := os.Getenv("SOURCE_DATE_EPOCH")
	if seconds == "" {
		output, err := exec.CommandContext(ctx, "git", "-C", root, "log", "-1", "--format=%ct").Output()
		if err != nil {
			return time.Time{}, fmt.Errorf("ask git when the last commit was: %w: outside of git, give SOURCE_DATE_EPOCH", err)
		}
		seconds = strings.TrimSpace(string(output))
	}
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || n < 0 {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %q is no time in seconds since 1970", seconds)
	}
	return time.Unix(n, 0).UTC(), nil
}

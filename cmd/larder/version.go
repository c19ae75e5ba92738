package main

import (
	"cmp"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"larder.local/cmd/larder/cli"
)

// version is set by -ldflags "-X main.version=…". Its default is the version in the build information.
var version string

// build is the output of `larder version`.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Time     string `json:"time,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func thisBuild() build {
	b := build{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Version = cmp.Or(b.Version, info.Main.Version)
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	b.Commit, b.Time, b.Modified = settings["vcs.revision"], settings["vcs.time"], settings["vcs.modified"] == "true"
	return b
}

// String returns the text of `larder version` and `larder --version`.
func (b build) String() string {
	text := "larder " + b.Version + "\n"
	if b.Commit != "" {
		text += "commit " + b.Commit + " of " + b.Time + "\n"
	}
	return text + b.Go + " " + b.Platform + "\n"
}

func versionCommand(env *cli.Environment) *cobra.Command {
	cmd := cli.NewCommand("larder", "version", func(cmd *cobra.Command, _ []string) error {
		b := thisBuild()
		return env.Show(cmd, b, func() { _, _ = io.WriteString(env.Out.Raw, b.String()) })
	})
	cli.AddJSON(cmd)
	return cmd
}

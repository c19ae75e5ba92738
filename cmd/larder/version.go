package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"larder/internal/cli"
)

// version is set by -ldflags "-X main.version=…"; without, the build's own
// information is used.
var version string

// build is what `larder version` knows.
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
	if b.Version == "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func versionCommand(env *cli.Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := thisBuild()
			return env.Show(cmd, b, func() {
				env.Out.Printf("larder %s\n", b.Version)
				if b.Commit != "" {
					env.Out.Printf("commit %s of %s\n", b.Commit, b.Time)
				}
				env.Out.Printf("%s %s\n", b.Go, b.Platform)
			})
		},
	}
	cli.AddJSON(cmd)
	return cmd
}

package demo

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"

	"larder.local/cmd/larder/cli"
	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/clitest"
)

// sandboxProgram is larder with the command sandbox alone.
func sandboxProgram(ctx context.Context, args []string, out, err io.Writer) int {
	env := &cli.Environment{In: strings.NewReader(""), Out: cli.Printer{Raw: out}, Err: cli.Printer{Raw: err}}
	silent := func(*cobra.Command) (*logrus.Logger, error) {
		log := logrus.New()
		log.SetOutput(io.Discard)
		return log, nil
	}
	root := cli.Root(env, args, SandboxCommand(env, &Starts{Logger: silent})) //nolint:contextcheck // ExecuteContext hands the context to every command
	return cli.Run(ctx, root, args, env)
}

func TestSandbox_JSONHasAllRestaurants(t *testing.T) {
	t.Parallel()
	generate := sandbox.Generate{Restaurants: 7, Products: 60, Seed: 1}
	var want []string
	for i := range generate.Restaurants {
		want = append(want, generate.RestaurantID(i))
	}
	started := clitest.Start(t, sandboxProgram, "sandbox", "--listen", "127.0.0.1:0", "--restaurants", "7", "--json")
	started.Out.Find(t, `(?s)^\{.*\n\}\n$`)
	made := clitest.FromJSON[sandboxInfo](t, started.Out.String())
	if !slices.Equal(made.Restaurants, want) || made.ClientID != "demo" || made.ClientSecret != "demo-secret" {
		t.Errorf("sandbox --json prints %+v, want the restaurants %q", made, want)
	}
	if status, _ := clitest.Fetch(t, made.URL+"/sandbox/orders"); status != 200 {
		t.Errorf("%s answers %d", made.URL, status)
	}
	text := clitest.Start(t, sandboxProgram, "sandbox", "--listen", "127.0.0.1:0", "--restaurants", "7")
	text.Out.Find(t, `7 restaurants: `+strings.Join(want[:5], ", ")+`, … \(2 more\); --json lists them all\n`)
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"larder/internal/upstream"
)

// usualFile is what init writes where nothing else is said.
const usualFile = "larder.yaml"

func initCommand(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a configuration by asking, and try it on the way",
		Long: `Ask for the connection to an ordering service and for the restaurants, try each
answer at once (a token, with each known form of the token request; the menus;
Redis), and write a commented configuration, ` + usualFile + ` where no FILE is named.
Whatever a flag gives is not asked for. A file that is there is replaced only
when that is said. The file can be read by its owner alone: it holds secrets,
among them those of two clients that are made for it, storefront and ops.

With --yes nothing is asked: flags give everything (those of the connection may
come from their variables), the rest has its default, and the command fails where
something does not work.`,
		Example: `  larder init
  LARDER_INIT_CLIENT_SECRET=… larder init --yes --base-url https://orders.example \
    --client-id my-client --restaurant north --restaurant south larder.yaml`,
		Args: takes(0, 1),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			s := &conversation{w: w, flags: cmd.Flags(), json: asJSON(cmd), file: usualFile}
			if len(args) > 0 {
				s.file = args[0]
			}
			s.ask = newAsker(w, s.flag("yes"))
			err := s.run(cmd.Context())
			if err != nil && cmd.Context().Err() != nil {
				return &steppedError{&interruptedError{"interrupted: nothing was written"}, "larder init again"}
			}
			return err
		}),
	}
	flags := cmd.Flags()
	flags.String("base-url", "", "address of the ordering service, without /orders/api/v1")
	flags.String("auth-url", "", "address of its token endpoint, without /connect/token; default: that of the service")
	flags.String("client-id", "", "the client that the ordering service knows")
	flags.String("client-secret", "", "its secret; better by the variable, or one of the next two")
	flags.String("client-secret-file", "", "a file that holds the secret; the configuration then names the file")
	flags.String("client-secret-env", "", "a variable that holds the secret; the configuration then names the variable")
	flags.StringArray("restaurant", nil, "a restaurant's id; may be given several times")
	flags.String("redis", "", "the address of a Redis, or embedded (in memory only)")
	flags.String("listen", "127.0.0.1:8080", "where larder will listen")
	flags.Bool("offline", false, "try nothing: neither the ordering service nor Redis is asked")
	flags.Bool("overwrite", false, "replace the file when it is there")
	flags.BoolP("yes", "y", false, "ask nothing")
	setEnv(flags, "base-url", "LARDER_INIT_BASE_URL")
	setEnv(flags, "auth-url", "LARDER_INIT_AUTH_URL")
	setEnv(flags, "client-id", "LARDER_INIT_CLIENT_ID")
	setEnv(flags, "client-secret", "LARDER_INIT_CLIENT_SECRET")
	setEnv(flags, "client-secret-file", "LARDER_INIT_CLIENT_SECRET_FILE")
	setEnv(flags, "client-secret-env", "LARDER_INIT_CLIENT_SECRET_ENV")
	setEnv(flags, "redis", "LARDER_INIT_REDIS")
	setEnv(flags, "listen", "LARDER_INIT_LISTEN")
	addJSON(cmd)
	return cmd
}

// conversation is what init asks and is answered; it ends with a configuration.
type conversation struct {
	w     *world
	flags *pflag.FlagSet
	ask   *asker
	file  string
	json  bool

	connection upstream.Config // as it is tried: with the secret itself
	client     *upstream.Client
	secret     secretPlace
	picked     []pick
	redis      string
	made       [2]string // secrets of the clients storefront and ops
	tried      []finding
}

// secretPlace is where the configuration finds the secret: in itself unless one
// of these is set.
type secretPlace struct{ file, variable string }

// pick is one restaurant to keep.
type pick struct{ id, name string }

func (s *conversation) flag(name string) bool {
	on, _ := s.flags.GetBool(name)
	return on
}

func (s *conversation) text(name string) string {
	text, _ := s.flags.GetString(name)
	return strings.TrimSpace(text)
}

// run asks, tries and writes, in this order.
func (s *conversation) run(ctx context.Context) error {
	defer func() {
		if s.client != nil {
			s.client.Close()
		}
	}()
	replaces, err := s.mayWrite(ctx)
	if err != nil {
		return err
	}
	s.ask.say("The connection to the ordering service. [ ] is what Enter takes; Ctrl-C ends, and nothing is written.")
	if err := s.connect(ctx); err != nil {
		return err
	}
	if err := s.pick(ctx); err != nil {
		return err
	}
	if err := s.store(ctx); err != nil {
		return err
	}
	if err := s.write(replaces); err != nil {
		return err
	}
	return s.report()
}

// mayWrite tells whether the file is there and may be replaced, before anybody
// has answered anything.
func (s *conversation) mayWrite(ctx context.Context) (replaces bool, err error) {
	info, err := os.Stat(s.file)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("%s: %w", s.file, innermost(err))
	case info.IsDir():
		return false, &usageError{s.file + " is a folder: name a file in it"}
	case s.flag("overwrite"):
		return true, nil
	}
	sure, err := s.ask.sure(ctx, s.file+" is there already. Replace it?")
	if err == nil && !sure {
		err = &steppedError{fmt.Errorf("%s is there already and stays as it is", s.file), "another FILE, or --overwrite"}
	}
	return true, err
}

// connect asks for the connection until it works, or it is to be kept as it is.
func (s *conversation) connect(ctx context.Context) error {
	for range triesOfPeople {
		if err := s.askConnection(ctx); err != nil {
			return err
		}
		if s.flag("offline") {
			return nil
		}
		works, err := s.tryConnection(ctx)
		if works || err != nil {
			return err
		}
		keep, err := s.ask.sure(ctx, "The connection does not work as it is. Keep it all the same? (No asks again)")
		if keep || err != nil {
			return err
		}
		if s.ask.mute {
			break
		}
	}
	return &steppedError{errors.New("the connection does not work: nothing was written"), "larder init with other values; --offline writes them untried"}
}

// triesOfPeople bounds how often a question is asked anew.
const triesOfPeople = 5

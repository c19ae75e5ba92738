package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"larder.local/httpapi/auth"
	"larder.local/internal/redisdb"
	"larder.local/internal/silentlog"
)

// rotateLimit is the timeout of a rotation.
const rotateLimit = 10 * time.Second

func tokenCommand(env *Environment) *cobra.Command {
	rotate := NewCommand("larder token", "rotate-key --config FILE", env.rotateKey)
	rotate.Flags().Bool("keep-tokens", false, "tokens and sessions of the former key stay valid until they expire")
	AddConfig(rotate)
	AddUnknownKeys(rotate)
	AddJSON(rotate)
	return commandGroup("token", rotate)
}

// rotateKey makes a new signing key in Redis (policy H14). It needs no running instance.
func (env *Environment) rotateKey(cmd *cobra.Command, _ []string) error {
	cfg, err := LoadService(cmd, env)
	if err != nil {
		return err
	}
	db, err := redisdb.Open(cfg.Redis, silentlog.New())
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }() // nothing is left to send
	ctx, cancel := context.WithTimeout(cmd.Context(), rotateLimit)
	defer cancel()
	done, err := auth.RotateKey(ctx, cfg.Auth, db, BoolFlag(cmd, "keep-tokens"))
	if errors.Is(err, redisdb.ErrUnavailable) && cmd.Context().Err() == nil {
		if cause := db.Probe(ctx); cause != nil { // EXECABORT has none
			err = cause
		}
		err = fmt.Errorf("the signing key at Redis %s may be unchanged (%s): correct that, and run the command again",
			db.Address(), redisdb.SafeText(err))
	}
	if err != nil {
		return err
	}
	effect := "tokens and sessions of the former key stay valid until they expire"
	if done.Revoked > 0 {
		effect = Plural(done.Revoked, "key", "keys") +
			" revoked; their tokens, sessions and event streams end within two seconds on every instance that reaches Redis"
	}
	return env.Show(cmd, done, func() { env.Out.Printf("new signing key %s instead of %s\n%s\n", done.Key, done.Former, effect) })
}

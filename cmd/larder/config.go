package main

import (
	"github.com/spf13/cobra"

	"larder/configs"
)

// addConfig adds the --config flag.
func addConfig(cmd *cobra.Command) {
	cmd.Flags().StringP("config", "c", "", "the YAML file of the configuration")
	setEnv(cmd.Flags(), "config", "LARDER_CONFIG")
}

// addUnknownKeys adds the --allow-unknown-keys flag.
func addUnknownKeys(cmd *cobra.Command) {
	cmd.Flags().Bool("allow-unknown-keys", false,
		"warn of keys that this version does not know, instead of refusing the configuration; to go back from a newer version")
}

// readOptions are those of the configuration's reader. Commands that talk to a
// running larder need its address and a client alone, and tolerate the keys of
// a newer one.
func readOptions(cmd *cobra.Command) []configs.Option {
	allowed := boolFlag(cmd, "allow-unknown-keys")
	if allowed || cmd.Flags().Lookup("url") != nil {
		return []configs.Option{configs.AllowUnknownKeys}
	}
	return nil
}

// loadConfig reads the configuration that --config names. Without the flag
// it is made of defaults and environment alone.
func loadConfig(cmd *cobra.Command, env *environment, more ...configs.Option) (*configs.Config, error) {
	return configs.Load(stringFlag(cmd, "config"), env.environ, append(readOptions(cmd), more...)...)
}

// loadService is loadConfig for commands that need something to work on: a
// file, or a connection in the environment.
func loadService(cmd *cobra.Command, env *environment, more ...configs.Option) (*configs.Config, error) {
	cfg, err := loadConfig(cmd, env, more...)
	if err != nil {
		return nil, err
	}
	if stringFlag(cmd, "config") == "" && len(cfg.Connections) == 0 {
		return nil, &usageError{"no configuration file and no connection: nothing to serve; give --config FILE (or LARDER_CONFIG), " +
			"or set LARDER_CONNECTIONS_0_BASE_URL and the related variables"}
	}
	return cfg, nil
}

func configCommand(env *environment) *cobra.Command {
	cmd := &cobra.Command{Use: "config", Short: "Show the configuration", Args: argRange(0, 0), RunE: needsSubcommand}
	show := &cobra.Command{
		Use:   "print",
		Short: "Print the effective configuration: defaults, file and environment, secrets redacted",
		Args:  argRange(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(cmd, env)
			if err != nil {
				return err
			}
			for _, warning := range cfg.Warnings() {
				env.err.printf("warning: %s\n", warning)
			}
			if asJSON(cmd) {
				text, err := cfg.JSON()
				if err != nil {
					return err
				}
				return printRaw(env.out, text)
			}
			text, err := cfg.YAML()
			if err != nil {
				return err
			}
			_, err = env.out.raw.Write(text)
			return err
		},
	}
	sample := &cobra.Command{
		Use:   "sample",
		Short: "Print configs/larder.yaml: every key with its meaning and default",
		Args:  argRange(0, 0),
		RunE: func(*cobra.Command, []string) error {
			_, err := env.out.raw.Write(configs.Sample())
			return err
		},
	}
	addConfig(show)
	addUnknownKeys(show)
	addJSON(show)
	cmd.AddCommand(show, sample)
	return cmd
}

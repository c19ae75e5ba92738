package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"larder.local/cmd/larder/client"
	"larder.local/configs"
	"larder.local/httpapi/auth"
)

// defaultURL is the default address of a daemon.
const defaultURL = "http://127.0.0.1:8080"

// daemonCommand is NewCommand with the flags that select a running daemon, and --json.
func daemonCommand(parent, use string, run func(cmd *cobra.Command, args []string) error) *cobra.Command {
	cmd := NewCommand(parent, use, run)
	cmd.Flags().String("url", "", "address of the running daemon; default: from the configuration, else "+defaultURL)
	cmd.Flags().String("client-id", "", "client id; default: the first client of the configuration with the required scope")
	cmd.Flags().String("client-secret", "", "the client's secret")
	SetEnv(cmd.Flags(), "url", "LARDER_URL")
	SetEnv(cmd.Flags(), "client-id", "LARDER_CLIENT_ID")
	SetEnv(cmd.Flags(), "client-secret", "LARDER_CLIENT_SECRET")
	AddConfig(cmd)
	AddJSON(cmd)
	return cmd
}

// target returns a client for the daemon that the flags select, with the address and the credentials for the
// scope. If a flag or the configuration is wrong, each call returns the error.
func target(cmd *cobra.Command, env *Environment, scope auth.Scope) *client.Client {
	base, ready, id, secret := StringFlag(cmd, "url"), "", StringFlag(cmd, "client-id"), StringFlag(cmd, "client-secret")
	if id == "" && secret != "" {
		return client.Failed(&usageError{"--client-secret without --client-id"})
	}
	if StringFlag(cmd, "config") != "" {
		cfg, err := loadConfig(cmd, env)
		if err != nil {
			return client.Failed(err)
		}
		if base == "" {
			base, ready = configuredURL(cfg, scope), configuredURL(cfg, auth.ScopeOps)
		}
		if id == "" {
			id, secret = configuredClient(cfg, scope)
		}
	}
	base, err := addressOf(cmp.Or(base, defaultURL))
	if err != nil {
		return client.Failed(err)
	}
	daemon := client.New(cmd.Context(), base, id, secret)
	daemon.Ready = ready
	return daemon
}

// addressOf parses --url, which may omit http://.
func addressOf(address string) (string, error) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "" {
		return "", &usageError{fmt.Sprintf("--url: %q is not a valid address; use a URL such as %s", address, defaultURL)}
	}
	return address, nil
}

// configuredURL returns the address at which a daemon with this configuration serves the scope.
func configuredURL(cfg *configs.Config, scope auth.Scope) string {
	address := cfg.HTTP.Listen
	if scope == auth.ScopeOps && cfg.HTTP.OpsListen != "" {
		address = cfg.HTTP.OpsListen
	}
	return client.BaseURL(address)
}

// configuredClient returns the first client with the scope. It prefers clients that see all connections.
func configuredClient(cfg *configs.Config, scope auth.Scope) (id, secret string) {
	for _, known := range cfg.Auth.Clients {
		if !slices.Contains(known.Scopes, scope) && (scope != auth.ScopeMenu || !slices.Contains(known.Scopes, auth.ScopeOrders)) {
			continue
		}
		if known.Connection == "" {
			return known.ID, known.Secret
		}
		if id == "" {
			id, secret = known.ID, known.Secret
		}
	}
	return id, secret
}

// AddConfig adds the --config flag.
func AddConfig(cmd *cobra.Command) {
	cmd.Flags().StringP("config", "c", "", "configuration file (YAML)")
	SetEnv(cmd.Flags(), "config", "LARDER_CONFIG")
}

// AddUnknownKeys adds the --allow-unknown-keys flag.
func AddUnknownKeys(cmd *cobra.Command) {
	cmd.Flags().Bool("allow-unknown-keys", false,
		"warn about unknown keys instead of rejecting the configuration; for a rollback from a newer version")
}

// ReadOptions returns the options for reading the configuration. Commands that call a
// running daemon accept unknown keys, because they need only its address and a client.
func ReadOptions(cmd *cobra.Command) []configs.Option {
	allowed := BoolFlag(cmd, "allow-unknown-keys")
	if allowed || cmd.Flags().Lookup("url") != nil {
		return []configs.Option{configs.AllowUnknownKeys}
	}
	return nil
}

// loadConfig reads the file of --config, or the defaults and the environment.
func loadConfig(cmd *cobra.Command, env *Environment, more ...configs.Option) (*configs.Config, error) {
	return configs.Load(StringFlag(cmd, "config"), env.Environ, append(ReadOptions(cmd), more...)...)
}

// LoadService is loadConfig for commands that need a file, or a connection in the environment.
func LoadService(cmd *cobra.Command, env *Environment, more ...configs.Option) (*configs.Config, error) {
	cfg, err := loadConfig(cmd, env, more...)
	if err != nil {
		return nil, err
	}
	if StringFlag(cmd, "config") == "" && len(cfg.Connections) == 0 {
		return nil, &usageError{"no configuration: use --config FILE (or LARDER_CONFIG), " +
			"or set LARDER_CONNECTIONS_0_BASE_URL and the related variables"}
	}
	return cfg, nil
}

func configCommand(env *Environment) *cobra.Command {
	show := NewCommand("larder config", "print", env.printConfig)
	AddConfig(show)
	AddUnknownKeys(show)
	AddJSON(show)
	return commandGroup("config", show, NewCommand("larder config", "sample", func(*cobra.Command, []string) error {
		_, err := env.Out.Raw.Write(configs.Sample())
		return err
	}))
}

func (env *Environment) printConfig(cmd *cobra.Command, _ []string) error {
	cfg, err := loadConfig(cmd, env)
	if err != nil {
		return err
	}
	for _, warning := range cfg.Warnings() {
		env.Err.Printf("warning: %s\n", warning)
	}
	if AsJSON(cmd) {
		text, err := cfg.JSON()
		if err != nil {
			return err
		}
		return PrintJSON(env.Out, json.RawMessage(text))
	}
	text, err := cfg.YAML()
	env.Out.PrintLines(string(text))
	return err
}

// request sends an operator's request, and prints the response as JSON or with text. It returns the response.
func request[T any](cmd *cobra.Command, env *Environment, method, path string, body []byte, text func(T)) (decoded T, err error) {
	daemon := target(cmd, env, auth.ScopeOps)
	answer, err := daemon.Call(cmd.Context(), method, path, body)
	if err == nil {
		decoded, err = printAnswer(cmd, env, answer, text)
	}
	return decoded, err
}

// printAnswer prints a response as JSON or with text, and returns it.
func printAnswer[T any](cmd *cobra.Command, env *Environment, answer *client.Reply, text func(T)) (decoded T, err error) {
	if err = answer.Decode(&decoded); err == nil {
		err = env.Show(cmd, answer.Body, func() { text(decoded) })
	}
	return decoded, err
}

// envAnnotation marks a flag with the environment variable that sets it.
const envAnnotation = "larder_env"

// StringFlag returns the value of a flag, or "" if the command does not have it.
func StringFlag(cmd *cobra.Command, name string) string {
	value, _ := cmd.Flags().GetString(name)
	return value
}

// BoolFlag reports whether a flag is set; false if the command does not have it.
func BoolFlag(cmd *cobra.Command, name string) bool {
	value, _ := cmd.Flags().GetBool(name)
	return value
}

// SetEnv lets an environment variable set a flag, and adds it to the help. Only flags for connections and
// output have variables: an old variable of the shell must not change what a command does.
func SetEnv(flags *pflag.FlagSet, name, variable string) {
	if err := flags.SetAnnotation(name, envAnnotation, []string{variable}); err != nil {
		panic(err) // the flag does not exist, a bug
	}
	flag := flags.Lookup(name)
	flag.Usage += " (" + variable + ")"
}

// fromEnvironment sets flags that are not on the command line from their variables.
func fromEnvironment(cmd *cobra.Command, environ []string) error {
	var wrong error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		names := f.Annotations[envAnnotation]
		if f.Changed || len(names) == 0 || wrong != nil {
			return
		}
		value, ok := configs.Variable(environ, names[0])
		if !ok {
			return
		}
		if err := cmd.Flags().Set(f.Name, value); err != nil {
			wrong = &usageError{"environment " + names[0] + ": " + valueError(f, value)}
		}
	})
	return wrong
}

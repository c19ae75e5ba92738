package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"larder/configs"
)

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

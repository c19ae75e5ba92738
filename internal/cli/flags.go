package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// envAnnotation marks a flag with the environment variable that sets it.
const envAnnotation = "larder_env"

// StringFlag returns the value of a flag; "" where the command has no such flag.
func StringFlag(cmd *cobra.Command, name string) string {
	value, _ := cmd.Flags().GetString(name)
	return value
}

// BoolFlag reports whether a flag is set; false where the command has no such flag.
func BoolFlag(cmd *cobra.Command, name string) bool {
	value, _ := cmd.Flags().GetBool(name)
	return value
}

// SetEnv lets an environment variable set a flag, and names it in the help.
// Only flags of connection and output have one: a variable that a shell still
// has from earlier must not change what a command does.
func SetEnv(flags *pflag.FlagSet, name, variable string) {
	if err := flags.SetAnnotation(name, envAnnotation, []string{variable}); err != nil {
		panic(err) // no such flag: a mistake in this package
	}
	flag := flags.Lookup(name)
	flag.Usage += " (" + variable + ")"
}

// fromEnvironment sets the flags that the command line does not, from their
// variables. A wrong value is a wrong usage.
func fromEnvironment(cmd *cobra.Command, environ []string) error {
	var wrong error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		names := f.Annotations[envAnnotation]
		if f.Changed || len(names) == 0 || wrong != nil {
			return
		}
		value, ok := Variable(environ, names[0])
		if !ok {
			return
		}
		if err := cmd.Flags().Set(f.Name, value); err != nil {
			wrong = &usageError{"environment " + names[0] + ": " + valueError(f, value)}
		}
	})
	return wrong
}

// Variable looks a variable up; the last of several wins.
func Variable(environ []string, name string) (value string, ok bool) {
	for _, entry := range environ {
		if v, found := strings.CutPrefix(entry, name+"="); found {
			value, ok = v, true
		}
	}
	return value, ok
}

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// addJSON adds the --json flag.
func addJSON(cmd *cobra.Command) {
	cmd.Flags().Bool("json", false, "print JSON for programs instead of text for people")
	setEnv(cmd.Flags(), "json", "LARDER_JSON")
}

func asJSON(cmd *cobra.Command) bool {
	return boolFlag(cmd, "json") // false without the flag
}

// printJSON writes a value as indented JSON and a line end.
func printJSON(out printer, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("print JSON: %w", err)
	}
	_, err = fmt.Fprintf(out.raw, "%s\n", text)
	return err
}

// printRaw writes JSON that came as bytes: indented, every number as it was.
func printRaw(out printer, raw []byte) error {
	var text bytes.Buffer
	if err := json.Indent(&text, raw, "", "  "); err != nil {
		return fmt.Errorf("print JSON: %w", err)
	}
	text.WriteByte('\n')
	_, err := text.WriteTo(out.raw)
	return err
}

// plural is "1 dish" or "2 dishes".
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// joined joins the parts that are not empty.
func joined(separator string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), separator)
}

// maxListed is how many ids a line names.
const maxListed = 5

// firstOf lists the first ids of total.
func firstOf(ids []string, total int) string {
	shown := ids[:min(len(ids), maxListed)]
	text := strings.Join(shown, ", ")
	if total > len(shown) {
		text += fmt.Sprintf(", … (%d more)", total-len(shown))
	}
	return text
}

// stripPackage is an error's text without the name of the package that it comes from,
// which tells a person nothing.
func stripPackage(text string) string {
	for _, room := range []string{"cache: ", "configs: ", "httpapi: ", "menu: ", "ordering: ", "redisdb: ", "sync: ", "upstream: "} {
		text = strings.TrimPrefix(text, room)
	}
	return text
}

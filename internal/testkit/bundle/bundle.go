// Package bundle builds the files that browsers load from TypeScript, CSS and HTML.
// The files directly in a folder's src are its entries; each becomes one minified
// file of dist without dependencies. Modules that entries import are in folders
// below src.
//
// It uses esbuild, a Go module, so that nobody needs Node. Only tests and `go
// generate` may import it. The program embeds dist, which is committed, and the
// test beside it calls [Check].
package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// target is the oldest language version of the output: that of browsers of 2022.
const target = api.ES2022

// Output is one file of dist.
type Output struct {
	Name string // in dist, such as "larder.js"
	Body []byte
}

// Build bundles every entry of folder/src: each .ts becomes an ES module, each .css
// a stylesheet; .html, .svg, .json and .d.ts are copied. A .css that a module imports becomes
// minified text, for a constructed stylesheet.
//
// Errors: esbuild's messages about the sources, with file and line.
func Build(folder string) ([]Output, error) {
	entries, err := entriesOf(folder)
	if err != nil {
		return nil, err
	}
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return nil, fmt.Errorf("bundle: %w", err)
	}
	built := api.Build(api.BuildOptions{
		AbsWorkingDir:       absolute,
		Outdir:              "dist",
		EntryPointsAdvanced: entries,
		Bundle:              true,
		Format:              api.FormatESModule,
		Platform:            api.PlatformBrowser,
		Target:              target,
		Charset:             api.CharsetUTF8,
		MinifyWhitespace:    true,
		MinifyIdentifiers:   true,
		MinifySyntax:        true,
		LegalComments:       api.LegalCommentsInline,
		Loader:              map[string]api.Loader{".html": api.LoaderCopy, ".svg": api.LoaderCopy},
		TsconfigRaw:         `{"compilerOptions": {"target": "es2022", "useDefineForClassFields": false}}`, // ignores any tsconfig.json nearby
		Plugins:             []api.Plugin{stylesheets()},
		LogLevel:            api.LogLevelSilent,
	})
	if len(built.Errors) > 0 {
		return nil, errors.New("bundle: " + strings.Join(api.FormatMessages(built.Errors, api.FormatMessagesOptions{}), ""))
	}
	outputs := make([]Output, 0, len(built.OutputFiles))
	for _, file := range built.OutputFiles {
		outputs = append(outputs, Output{Name: filepath.Base(file.Path), Body: file.Contents})
	}
	data, _ := filepath.Glob(filepath.Join(folder, "src", "*.json")) // the patterns are valid
	types, _ := filepath.Glob(filepath.Join(folder, "src", "*.d.ts"))
	for _, path := range append(data, types...) { // not by esbuild: a module that imports such a file contains it
		body, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("bundle: %w", err)
		}
		outputs = append(outputs, Output{Name: filepath.Base(path), Body: body})
	}
	slices.SortFunc(outputs, func(a, b Output) int { return strings.Compare(a.Name, b.Name) })
	return outputs, nil
}

// entriesOf lists the files directly in folder/src.
func entriesOf(folder string) ([]api.EntryPoint, error) {
	files, err := os.ReadDir(filepath.Join(folder, "src"))
	if err != nil {
		return nil, fmt.Errorf("bundle: %w", err)
	}
	var entries []api.EntryPoint
	for _, file := range files {
		name := file.Name()
		switch ending := filepath.Ext(name); {
		case strings.HasSuffix(name, ".d.ts"): // copied
		case slices.Contains([]string{".ts", ".css", ".html", ".svg"}, ending):
			entries = append(entries, api.EntryPoint{InputPath: "./src/" + name, OutputPath: strings.TrimSuffix(name, ending)})
		}
	}
	if len(entries) == 0 {
		return nil, fmt.Errorf("bundle: no .ts, .css, .html or .svg stands in %s", filepath.Join(folder, "src"))
	}
	return entries, nil
}

// stylesheets lets modules import the minified text of a .css.
func stylesheets() api.Plugin {
	const namespace = "stylesheet"
	return api.Plugin{Name: namespace, Setup: func(build api.PluginBuild) {
		build.OnResolve(api.OnResolveOptions{Filter: `\.css$`}, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
			if args.Kind != api.ResolveJSImportStatement {
				return api.OnResolveResult{}, nil
			}
			return api.OnResolveResult{Path: filepath.Join(args.ResolveDir, args.Path), Namespace: namespace}, nil
		})
		build.OnLoad(api.OnLoadOptions{Filter: `.`, Namespace: namespace}, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
			text, err := os.ReadFile(args.Path)
			if err != nil {
				return api.OnLoadResult{}, err
			}
			css := api.Transform(string(text), api.TransformOptions{
				Loader:           api.LoaderCSS,
				Target:           target,
				MinifyWhitespace: true,
				MinifySyntax:     true,
				Charset:          api.CharsetUTF8,
				Sourcefile:       args.Path,
			})
			contents := string(bytes.TrimSpace(css.Code))
			return api.OnLoadResult{
				Contents: &contents,
				Loader:   api.LoaderText,
				Errors:   css.Errors,
				Warnings: css.Warnings,
			}, nil
		})
	}}
}

// Write updates folder/dist from the sources. Files of dist without an entry stay.
func Write(folder string) error {
	outputs, err := Build(folder)
	if err != nil {
		return err
	}
	dist := filepath.Join(folder, "dist")
	if err := os.MkdirAll(dist, 0o755); err != nil {
		return fmt.Errorf("bundle: %w", err)
	}
	for _, output := range outputs {
		if err := os.WriteFile(filepath.Join(dist, output.Name), output.Body, 0o644); err != nil {
			return fmt.Errorf("bundle: %w", err)
		}
	}
	return nil
}

// Check returns the files of folder/dist that differ from the output of the
// sources, or that have no entry.
func Check(folder string) error {
	outputs, err := Build(folder)
	if err != nil {
		return err
	}
	var faults []error
	built := map[string]bool{}
	for _, output := range outputs {
		built[output.Name] = true
		path := filepath.Join(folder, "dist", output.Name)
		committed, err := os.ReadFile(path)
		switch {
		case err != nil:
			faults = append(faults, fmt.Errorf("bundle: %w", err))
		case !bytes.Equal(committed, output.Body):
			faults = append(faults, fmt.Errorf("bundle: %s is not what its source gives; run go generate", path))
		}
	}
	committed, err := os.ReadDir(filepath.Join(folder, "dist"))
	if err != nil {
		return errors.Join(append(faults, fmt.Errorf("bundle: %w", err))...)
	}
	for _, file := range committed {
		if !built[file.Name()] {
			faults = append(faults, fmt.Errorf("bundle: %s has no source; remove it", filepath.Join(folder, "dist", file.Name())))
		}
	}
	return errors.Join(faults...)
}

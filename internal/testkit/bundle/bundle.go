// Package bundle makes what browsers load out of TypeScript, CSS and HTML: the
// files directly in a folder's src are its entries, and each becomes
// one file of its dist, without dependencies and minified. Modules that entries
// import stand in folders beneath src.
//
// It works by esbuild, a Go module: nobody needs Node. Only tests and what
// `go generate` runs may import it; the program embeds dist, which is committed,
// and the test beside it calls [Check].
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

// target is the oldest language that is written: that of browsers of 2022.
const target = api.ES2022

// Output is one file of dist.
type Output struct {
	Name string // in dist, such as "larder.js"
	Body []byte
}

// Build bundles every entry of folder/src: each .ts becomes an ES module, each
// .css a stylesheet, .html and .svg stay as they are. A .css that a module
// imports is minified text, for a constructed stylesheet.
//
// Errors: what esbuild says of the sources, with file and line.
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
		AbsWorkingDir: absolute, Outdir: "dist", EntryPointsAdvanced: entries,
		Bundle: true, Format: api.FormatESModule, Platform: api.PlatformBrowser, Target: target, Charset: api.CharsetUTF8,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true, LegalComments: api.LegalCommentsInline,
		Loader:      map[string]api.Loader{".html": api.LoaderCopy, ".svg": api.LoaderCopy},
		TsconfigRaw: `{"compilerOptions": {"target": "es2022", "useDefineForClassFields": true}}`, // whatever lies around
		Plugins:     []api.Plugin{stylesheets()}, LogLevel: api.LogLevelSilent,
	})
	if len(built.Errors) > 0 {
		return nil, errors.New("bundle: " + strings.Join(api.FormatMessages(built.Errors, api.FormatMessagesOptions{}), ""))
	}
	outputs := make([]Output, 0, len(built.OutputFiles))
	for _, file := range built.OutputFiles {
		outputs = append(outputs, Output{Name: filepath.Base(file.Path), Body: file.Contents})
	}
	slices.SortFunc(outputs, func(a, b Output) int { return strings.Compare(a.Name, b.Name) })
	return outputs, nil
}

// entriesOf lists the files that stand directly in folder/src.
func entriesOf(folder string) ([]api.EntryPoint, error) {
	files, err := os.ReadDir(filepath.Join(folder, "src"))
	if err != nil {
		return nil, fmt.Errorf("bundle: %w", err)
	}
	var entries []api.EntryPoint
	for _, file := range files {
		name := file.Name()
		switch ending := filepath.Ext(name); ending {
		case ".ts", ".css", ".html", ".svg":
			entries = append(entries, api.EntryPoint{InputPath: "./src/" + name, OutputPath: strings.TrimSuffix(name, ending)})
		}
	}
	if len(entries) == 0 {
		return nil, fmt.Errorf("bundle: no .ts, .css, .html or .svg stands in %s", filepath.Join(folder, "src"))
	}
	return entries, nil
}

// stylesheets is for modules that import a .css: they get its minified text.
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
				Loader: api.LoaderCSS, Target: target, MinifyWhitespace: true, MinifySyntax: true,
				Charset: api.CharsetUTF8, Sourcefile: args.Path,
			})
			contents := string(bytes.TrimSpace(css.Code))
			return api.OnLoadResult{Contents: &contents, Loader: api.LoaderText, Errors: css.Errors, Warnings: css.Warnings}, nil
		})
	}}
}

// Write makes folder/dist what the sources give. Files of dist that no entry
// makes stay as they are.
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

// Check returns which files of folder/dist are not what the sources give, or
// stand there without an entry.
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

package openapi_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"go.yaml.in/yaml/v4"

	"larder.local/httpapi/openapi"
)

var update = flag.Bool("update", false, "write openapi.yaml and openapi.json")

// The embedded document is the one built from the files of document/.
func TestDocumentIsJoined(t *testing.T) {
	t.Parallel()
	asYAML, asJSON, err := joined(os.DirFS("document"))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		for name, text := range map[string][]byte{"openapi.yaml": asYAML, "openapi.json": asJSON} {
			if err := os.WriteFile(name, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	if !bytes.Equal(asYAML, openapi.YAML()) || !bytes.Equal(asJSON, openapi.JSON()) {
		t.Error("openapi.yaml or openapi.json is not what document/ gives; run: go generate ./httpapi/openapi")
	}
}

// Both formats and their examples are valid OpenAPI.
func TestDocumentIsValid(t *testing.T) {
	t.Parallel()
	for name, text := range map[string][]byte{"YAML": openapi.YAML(), "JSON": openapi.JSON()} {
		loader := openapi3.NewLoader()
		document, err := loader.LoadFromData(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := document.Validate(loader.Context, openapi3.EnableExamplesValidation()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !document.IsOpenAPI31OrLater() || document.Paths.Len() < 30 {
			t.Errorf("%s: version %s with %d paths", name, document.OpenAPI, document.Paths.Len())
		}
	}
}

// joined returns the whole document as YAML and as JSON: head.yaml unchanged, paths/*.yaml under
// `paths`, and below `components` each other file or folder under its own name. Files are sorted by
// name.
func joined(files fs.FS) (asYAML, asJSON []byte, err error) {
	var whole bytes.Buffer
	whole.WriteString("# Made from the files of document/ by go generate. DO NOT EDIT.\n")
	if err := add(&whole, files, "head.yaml", 0); err != nil {
		return nil, nil, err
	}
	for _, section := range []string{"paths", "components"} {
		whole.WriteString(section + ":\n")
		if err := addFolder(&whole, files, section, 1); err != nil {
			return nil, nil, err
		}
	}
	var document yaml.Node
	if err := yaml.Load(whole.Bytes(), &document); err != nil {
		return nil, nil, fmt.Errorf("the document: %w", err)
	}
	asJSON, err = appendJSON(nil, document.Content[0])
	return whole.Bytes(), append(asJSON, '\n'), err
}

// appendJSON appends a value as JSON. Objects keep the order of their keys.
func appendJSON(text []byte, n *yaml.Node) ([]byte, error) {
	begin, end := "[", "]"
	switch n.Kind {
	case yaml.MappingNode:
		begin, end = "{", "}"
	case yaml.SequenceNode:
	default:
		var value any
		if err := n.Decode(&value); err != nil {
			return nil, fmt.Errorf("line %d: %w", n.Line, err)
		}
		var single bytes.Buffer
		encoder := json.NewEncoder(&single)
		encoder.SetEscapeHTML(false)
		err := encoder.Encode(value)
		return append(text, bytes.TrimSpace(single.Bytes())...), err
	}
	text = append(text, begin...)
	for i, inner := range n.Content {
		switch {
		case i == 0:
		case n.Kind == yaml.MappingNode && i%2 == 1:
			text = append(text, ": "...)
		default:
			text = append(text, ", "...)
		}
		var err error
		if text, err = appendJSON(text, inner); err != nil {
			return nil, err
		}
	}
	return append(text, end...), nil
}

// addFolder adds the files of a folder and of its subfolders down to a depth. The files in paths
// and in the folders of components add no level of their own.
func addFolder(whole *bytes.Buffer, files fs.FS, folder string, depth int) error {
	entries, err := fs.ReadDir(files, folder)
	if err != nil {
		return fmt.Errorf("%w", err)
	}
	for _, entry := range entries {
		at := path.Join(folder, entry.Name())
		under := depth
		if folder == "components" {
			whole.WriteString(indent(depth) + strings.TrimSuffix(entry.Name(), ".yaml") + ":\n")
			under++
		}
		if entry.IsDir() {
			err = addFolder(whole, files, at, under)
		} else {
			err = add(whole, files, at, under)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// add adds an indented file.
func add(whole *bytes.Buffer, files fs.FS, name string, depth int) error {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return fmt.Errorf("%w", err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.TrimSpace(line) != "" {
			whole.WriteString(indent(depth))
		}
		whole.WriteString(line)
	}
	return nil
}

func indent(depth int) string { return strings.Repeat("  ", depth) }

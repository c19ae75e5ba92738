// Package join makes one OpenAPI document of the files that it is written in:
// head.yaml as it stands, paths/*.yaml under `paths`, and below `components`
// each other file, or folder of files, under its own name. It is used by go
// generate and by the test that holds the outcome to the files.
package join

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/goccy/go-yaml"
)

// Document gives the whole document as YAML, and the same as JSON. Files are
// taken in the order of their names.
//
// Errors name the file that cannot be read, or the line of the whole document
// that is no YAML.
func Document(files fs.FS) (asYAML, asJSON []byte, err error) {
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
	asJSON, err = yaml.YAMLToJSON(whole.Bytes())
	if err != nil {
		return nil, nil, fmt.Errorf("join: the document: %w", err)
	}
	return whole.Bytes(), asJSON, nil
}

// addFolder adds what is in a folder, so many levels deep. The files of paths
// and of folders in components have no names of their own there.
func addFolder(whole *bytes.Buffer, files fs.FS, folder string, depth int) error {
	entries, err := fs.ReadDir(files, folder)
	if err != nil {
		return fmt.Errorf("join: %w", err)
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

// add adds a file, its lines indented.
func add(whole *bytes.Buffer, files fs.FS, name string, depth int) error {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return fmt.Errorf("join: %w", err)
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

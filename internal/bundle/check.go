package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Write makes folder/dist what the sources give. Files of dist that no entry
// makes stay as they are.
func Write(folder string) error {
	outputs, err := Build(folder)
	if err != nil {
		return err
	}
	dist := filepath.Join(folder, "dist")
	if err := os.MkdirAll(dist, 0o755); err != nil { //nolint:gosec // G301: sources, for everyone to read
		return fmt.Errorf("bundle: %w", err)
	}
	for _, output := range outputs {
		if err := os.WriteFile(filepath.Join(dist, output.Name), output.Body, 0o644); err != nil { //nolint:gosec // G306: as above
			return fmt.Errorf("bundle: %w", err)
		}
	}
	return nil
}

// Check tells which files of folder/dist are not what the sources give, or
// stand there without an entry.
func Check(folder string) error {
	outputs, err := Build(folder)
	if err != nil {
		return err
	}
	var faults []error
	made := map[string]bool{}
	for _, output := range outputs {
		made[output.Name] = true
		path := filepath.Join(folder, "dist", output.Name)
		committed, err := os.ReadFile(path) //nolint:gosec // G304: a name that Build made
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
		if !made[file.Name()] {
			faults = append(faults, fmt.Errorf("bundle: %s has no source; remove it", filepath.Join(folder, "dist", file.Name())))
		}
	}
	return errors.Join(faults...)
}

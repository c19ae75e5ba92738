package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// entry is a file of an archive.
type entry struct {
	name    string // with slashes
	mode    int64
	content []byte
}

// read returns an entry with the content of a file.
func read(file, name string, mode int64) (entry, error) {
	content, err := os.ReadFile(file) //nolint:gosec // G304: files of the tree
	return entry{name: name, mode: mode, content: content}, err
}

// archive writes name.tar.gz with its files in the folder name, in order, with the same
// time and without owners.
func (r *release) archive(name string, entries []entry) error {
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	var packed bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&packed, gzip.BestCompression) // without a name and a time in its head
	if err != nil {
		return err
	}
	files := tar.NewWriter(zipped)
	for _, each := range entries {
		header := &tar.Header{
			Typeflag: tar.TypeReg,
			Name:     path.Join(name, each.name),
			Size:     int64(len(each.content)),
			Mode:     each.mode,
			ModTime:  r.at,
			Format:   tar.FormatPAX,
		}
		if err := files.WriteHeader(header); err != nil {
			return fmt.Errorf("%s: %w", each.name, err)
		}
		if _, err := files.Write(each.content); err != nil {
			return fmt.Errorf("%s: %w", each.name, err)
		}
	}
	if err := files.Close(); err != nil {
		return err
	}
	if err := zipped.Close(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, name+".tar.gz"), packed.Bytes(), 0o644) //nolint:gosec // G306: for everyone
}

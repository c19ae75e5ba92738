package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
)

// inventory writes name.cdx.json: the program with its hash, and every module that it
// was linked from, as recorded in the program.
func (r *release) inventory(name, program string, binary []byte) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	larder := cyclonedx.Component{
		BOMRef:   "larder",
		Type:     cyclonedx.ComponentTypeApplication,
		Name:     "larder",
		Version:  r.version,
		Hashes:   &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: fmt.Sprintf("%x", sha256.Sum256(binary))}},
		Licenses: &cyclonedx.Licenses{{License: &cyclonedx.License{ID: "Apache-2.0"}}},
	}
	modules := []cyclonedx.Component{module("stdlib", strings.TrimPrefix(info.GoVersion, "go"))}
	for _, each := range info.Deps {
		modules = append(modules, module(each.Path, each.Version))
	}
	needed := make([]string, 0, len(modules))
	for _, each := range modules {
		needed = append(needed, each.BOMRef)
	}
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Timestamp: r.at.Format(time.RFC3339), Component: &larder}
	bom.Components = &modules
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: larder.BOMRef, Dependencies: &needed}}
	var text bytes.Buffer
	if err := cyclonedx.NewBOMEncoder(&text, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, name+".cdx.json"), text.Bytes(), 0o644) //nolint:gosec // G306: for everyone
}

func module(path, version string) cyclonedx.Component {
	url := "pkg:golang/" + path + "@" + version
	return cyclonedx.Component{
		BOMRef:     url,
		Type:       cyclonedx.ComponentTypeLibrary,
		Name:       path,
		Version:    version,
		PackageURL: url,
	}
}

//go:build ignore

// This program writes openapi.yaml and openapi.json.
package main

import (
	"log"
	"os"

	"larder/httpapi/openapi/join"
)

func main() {
	asYAML, asJSON, err := join.Document(os.DirFS("document"))
	if err != nil {
		log.Fatal(err)
	}
	for name, text := range map[string][]byte{"openapi.yaml": asYAML, "openapi.json": asJSON} {
		if err := os.WriteFile(name, text, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

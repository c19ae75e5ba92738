package openapi_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"larder/httpapi/openapi"
	"larder/httpapi/openapi/join"
)

// What is embedded is what the files of document/ give.
func TestDocumentIsJoined(t *testing.T) {
	t.Parallel()
	asYAML, asJSON, err := join.Document(os.DirFS("document"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(asYAML, openapi.YAML()) || !bytes.Equal(asJSON, openapi.JSON()) {
		t.Error("openapi.yaml or openapi.json is not what document/ gives; run: go generate ./httpapi/openapi")
	}
}

// Both forms are valid OpenAPI, their examples too.
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

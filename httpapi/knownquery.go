package httpapi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"larder.local/httpapi/openapi"
	"larder.local/httpapi/respond"
)

// parameter is a parameter of the API document, or a reference to one.
type parameter struct {
	Ref  string `json:"$ref"`
	Name string
	In   string
}

// queryNames returns the names of the query parameters of each path of the API document, in the spelling of Gin.
func queryNames() (map[string][]string, error) {
	var document struct {
		Paths      map[string]map[string]json.RawMessage
		Components struct{ Parameters map[string]parameter }
	}
	if err := json.Unmarshal(openapi.JSON(), &document); err != nil {
		return nil, fmt.Errorf("the API document: %w", err)
	}
	names := make(map[string][]string, len(document.Paths))
	for path, operations := range document.Paths {
		path = strings.NewReplacer("{", ":", "}", "").Replace(path)
		names[path] = nil
		for _, text := range operations {
			var operation struct{ Parameters []parameter }
			_ = json.Unmarshal(text, &operation) // what is no operation has no parameters
			for _, one := range operation.Parameters {
				if name, found := strings.CutPrefix(one.Ref, "#/components/parameters/"); found {
					one = document.Components.Parameters[name]
				}
				if one.In == "query" {
					names[path] = append(names[path], one.Name)
				}
			}
		}
	}
	return names, nil
}

// onlyKnownQuery rejects query parameters that an operators' route does not have: a misspelled one, such as
// ?force=true of a sync, would otherwise change nothing and seem to work.
func onlyKnownQuery(names map[string][]string) gin.HandlerFunc {
	return func(c *gin.Context) {
		known := names[c.FullPath()]
		for name := range c.Request.URL.Query() {
			if !slices.Contains(known, name) {
				msg := "is not a query parameter of this route"
				if len(known) > 0 {
					msg += ", which has " + strings.Join(known, ", ")
				}
				respond.Fail(c, respond.InvalidParameter(name, msg))
				return
			}
		}
	}
}

package web

import (
	"embed"
	"io/fs"
	"net/http"
	"strings"
)

//go:embed dist
var dist embed.FS

// Path is where assets stand: /web/larder.js.
const Path = "/web/"

// Assets are the files of dist. They never change, so any number of goroutines
// may serve them.
type Assets struct{ byName map[string]*Asset }

// NewAssets reads the embedded files. In a page (HTML) each address of an
// asset, such as "/web/larder.js" in quotes, gets the asset's version, so that
// browsers may keep it for ever.
func NewAssets() (*Assets, error) {
	assets := &Assets{byName: map[string]*Asset{}}
	files, err := fs.ReadDir(dist, "dist")
	if err != nil {
		return nil, err
	}
	pages := map[string]string{}
	versions := []string{}
	for _, file := range files {
		name := file.Name()
		body, err := fs.ReadFile(dist, "dist/"+name)
		if err != nil {
			return nil, err
		}
		if strings.HasSuffix(name, ".html") {
			pages[name] = string(body)
			continue
		}
		asset := NewAsset(name, body)
		assets.byName[name] = asset
		versions = append(versions, `"`+Path+name+`"`, `"`+Path+name+"?v="+asset.Version()+`"`)
	}
	versioned := strings.NewReplacer(versions...)
	for name, text := range pages {
		assets.byName[name] = NewAsset(name, []byte(versioned.Replace(text)))
	}
	return assets, nil
}

// Page is a page of dist, such as "page.html"; false where there is none.
func (a *Assets) Page(name string) (*Asset, bool) {
	page, found := a.byName[name]
	return page, found
}

// Serve answers GET and HEAD of one asset below Path by its name; false where
// there is none, and nothing is written then. Pages are no assets: whoever
// routes them says their policy. What stands here any site may load, for a
// storefront's page is of another origin than larder.
func (a *Assets) Serve(w http.ResponseWriter, r *http.Request, name string) bool {
	asset, found := a.byName[name]
	if !found || strings.HasSuffix(name, ".html") {
		return false
	}
	header := w.Header()
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("Cross-Origin-Resource-Policy", "cross-origin")
	asset.ServeHTTP(w, r)
	return true
}

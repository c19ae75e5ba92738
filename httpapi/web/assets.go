package web

import (
	"embed"
	"errors"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
)

// Types are the types of the API document for TypeScript.
//
//go:embed src/api/openapi.d.ts
var Types []byte

//go:embed dist
var dist embed.FS

// Path is the path prefix of assets: /web/larder.js.
const Path = "/web/"

// Assets are the files of dist. They are immutable and safe for concurrent use.
type Assets struct{ byName map[string]*Asset }

// NewAssets reads the embedded files. Pages refer to other files as "/web/larder.js", and modules as "./texts.ru.json".
// NewAssets adds the version of the other file to each such address, so that browsers may cache that file forever.
func NewAssets() *Assets {
	assets := &Assets{byName: map[string]*Asset{}}
	files, _ := dist.ReadDir("dist") // cannot fail: it is embedded above
	rank := func(file fs.DirEntry) int { return slices.Index([]string{".js", ".html"}, path.Ext(file.Name())) }
	slices.SortStableFunc(files, func(a, b fs.DirEntry) int { return rank(a) - rank(b) }) // a file comes after those that it names
	versions := []string{}
	for _, file := range files {
		name := file.Name()
		body, _ := dist.ReadFile("dist/" + name)
		asset := newAsset(name, []byte(strings.NewReplacer(versions...).Replace(string(body))))
		assets.byName[name] = asset
		for _, address := range []string{Path + name, "./" + name} {
			versions = append(versions, `"`+address+`"`, `"`+address+"?v="+asset.Version()+`"`)
		}
	}
	return assets
}

// Add adds an asset that is made from the configuration, and returns its address. Callers must not use it
// after the first request.
func (a *Assets) Add(name string, body []byte) string {
	asset := newAsset(name, body)
	a.byName[name] = asset
	return Path + name + "?v=" + asset.Version()
}

// Page returns a file of dist, such as "page.html".
func (a *Assets) Page(name string) (*Asset, error) {
	if page, found := a.byName[name]; found {
		return page, nil
	}
	return nil, errors.New("web: " + name + " is not among the embedded files; run go generate in httpapi/web")
}

// Serve answers GET and HEAD of an asset below Path by name. It returns false, and writes
// nothing, if the asset does not exist or is a page: the routes of pages set their policy. Any
// site may load assets, because storefronts have other origins.
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

// SetPolicy sets the Content-Security-Policy and the other headers of every page. The policy allows only resources of larder's
// own origin, and no inline scripts, inline styles, framing, or text that becomes markup. Images are further origins of
// images, as scheme and host ("https://img.example").
func SetPolicy(header http.Header, images ...string) {
	header.Set("Content-Security-Policy", strings.Join([]string{
		"default-src 'none'", "script-src 'self'", "style-src 'self'",
		"img-src " + strings.Join(append([]string{"'self'", "data:"}, images...), " "),
		"connect-src 'self'", "font-src 'self'", "manifest-src 'self'",
		"base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'",
		"require-trusted-types-for 'script'", "trusted-types 'none'",
	}, "; "))
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=()")
}

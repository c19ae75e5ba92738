package peers

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"larder.local/tools/bench/answers"
)

// conditionalPath is the prefix of the path of a 304 at the peer program's servers,
// where each response has its own path.
const conditionalPath = "/304"

// answerFiles are the files of prepared responses.
type answerFiles struct{ all, origin, bind string }

// writeAnswers writes larder's responses for the peers.
func (s *testbed) writeAnswers(list []given) (files answerFiles, err error) {
	var all, origin, bind []answers.Answer
	seen := map[string]bool{}
	for i, g := range list {
		a := answers.Answer{Path: g.Path, Status: g.Status, Header: headerOf(g.answer.Header)}
		if g.conditional() {
			a.Path = conditionalPath + g.Path
		}
		if seen[a.Path] || g.Varies {
			continue
		}
		seen[a.Path] = true
		if len(g.answer.Body) > 0 {
			a.File = filepath.Join(s.dir, fmt.Sprintf("answer-%d", i))
			if err := os.WriteFile(a.File, g.answer.Body, 0o600); err != nil {
				return files, err
			}
		}
		switch {
		case g.Method != http.MethodGet:
			bind = append(bind, a)
		case g.conditional():
			all = append(all, a)
		default:
			all, s.files, origin = append(all, a), append(s.files, a), append(origin, forProxies(a))
		}
	}
	files = answerFiles{filepath.Join(s.dir, "answers.json"), filepath.Join(s.dir, "origin.json"), filepath.Join(s.dir, "bind.json")}
	for file, list := range map[string][]answers.Answer{files.all: all, files.origin: origin, files.bind: bind} {
		if err := answers.Write(file, list); err != nil {
			return files, err
		}
	}
	return files, nil
}

// headerOf returns a header without the fields that each server adds itself.
func headerOf(header http.Header) [][2]string {
	var list [][2]string
	for _, name := range slices.Sorted(maps.Keys(header)) {
		if name == "Date" || name == "Content-Length" {
			continue
		}
		for _, value := range header[name] {
			list = append(list, [2]string{name, value})
		}
	}
	return list
}

// forProxies returns a response that a proxy caches for a day. The fields that proxies
// add, such as Server and Connection, are about as long as the request id.
func forProxies(a answers.Answer) answers.Answer {
	var header [][2]string
	for _, h := range a.Header {
		switch strings.ToLower(h[0]) {
		case "x-request-id":
		case "cache-control":
			header = append(header, [2]string{h[0], "public, max-age=86400, stale-if-error=86400"})
		default:
			header = append(header, h)
		}
	}
	a.Header = header
	return a
}

package doctest

import (
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
)

var (
	codeForm    = regexp.MustCompile("`[^`]*`")
	linkForm    = regexp.MustCompile(`\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)`)
	headingForm = regexp.MustCompile(`^#{1,6} +(.+?) *#*$`)
	linkText    = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
)

// Links are the targets of the page's links, as they are written, but for those
// inside code.
func (p *Page) Links() []string {
	var found []string
	for _, line := range p.prose() {
		for _, link := range linkForm.FindAllStringSubmatch(codeForm.ReplaceAllString(line, ""), -1) {
			found = append(found, link[1])
		}
	}
	return found
}

// prose are the page's lines outside blocks.
func (p *Page) prose() []string {
	var lines []string
	next := 0
	for _, b := range p.blocks {
		lines = append(lines, p.lines[next:b.from-1]...)
		next = min(b.to+1, len(p.lines))
	}
	return append(lines, p.lines[next:]...)
}

// anchors are the names by which the page's headings are linked to, as GitHub
// makes them.
func (p *Page) anchors() map[string]bool {
	found := map[string]bool{}
	for _, line := range p.prose() {
		heading := headingForm.FindStringSubmatch(line)
		if heading == nil {
			continue
		}
		slug := slugOf(heading[1])
		unique := slug
		for i := 1; found[unique]; i++ {
			unique = fmt.Sprintf("%s-%d", slug, i)
		}
		found[unique] = true
	}
	return found
}

func slugOf(heading string) string {
	heading = strings.ToLower(linkText.ReplaceAllString(heading, "$1"))
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return r
		default:
			return -1
		}
	}, heading)
}

// Broken tells every link of the pages that leads nowhere: to a file that is not
// below root, or to a heading that its page has not. Links to other hosts are
// not followed. Reached are the files and folders that links lead to.
func Broken(root string, pages []*Page) (broken []string, reached map[string]bool) {
	anchors := make(map[string]map[string]bool, len(pages))
	for _, p := range pages {
		anchors[p.Path] = p.anchors()
	}
	reached = map[string]bool{}
	for _, p := range pages {
		for _, link := range p.Links() {
			to, err := url.Parse(link)
			switch {
			case err != nil:
				broken = append(broken, fmt.Sprintf("%s: %s is no link: %v", p.Path, link, err))
				continue
			case to.Scheme != "" || to.Host != "":
				continue
			}
			target := p.Path
			if to.Path != "" {
				target = path.Join(path.Dir(p.Path), to.Path)
			}
			if target != p.Path {
				if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(target))); err != nil || strings.HasPrefix(target, "..") || path.IsAbs(to.Path) {
					broken = append(broken, fmt.Sprintf("%s: %s: there is no such file", p.Path, link))
					continue
				}
				reached[target] = true
			}
			if known, isPage := anchors[target]; to.Fragment != "" && (!isPage || !known[to.Fragment]) {
				broken = append(broken, fmt.Sprintf("%s: %s: there is no such heading", p.Path, link))
			}
		}
	}
	return broken, reached
}

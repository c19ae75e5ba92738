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

// Spans returns the inline code of the page's sentences: text between single
// backticks, outside blocks.
func (p *Page) Spans() []string {
	var spans []string
	for _, line := range p.prose {
		for _, span := range codeForm.FindAllString(line, -1) {
			spans = append(spans, strings.Trim(span, "`"))
		}
	}
	return spans
}

// links returns the targets of the page's links, except those inside code.
func (p *Page) links() []string {
	var found []string
	for _, line := range p.prose {
		for _, link := range linkForm.FindAllStringSubmatch(codeForm.ReplaceAllString(line, ""), -1) {
			found = append(found, link[1])
		}
	}
	return found
}

// anchors returns the anchors of the page's headings, as GitHub makes them.
func (p *Page) anchors() map[string]bool {
	found := map[string]bool{}
	for _, line := range p.prose {
		heading := headingForm.FindStringSubmatch(line)
		if heading == nil {
			continue
		}
		slug := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return r
			default:
				return -1
			}
		}, strings.ToLower(linkText.ReplaceAllString(heading[1], "$1")))
		unique := slug
		for i := 1; found[unique]; i++ {
			unique = fmt.Sprintf("%s-%d", slug, i)
		}
		found[unique] = true
	}
	return found
}

// Broken returns every broken link of the pages: to a file that is not below root,
// or to a heading that its page does not have. It does not check links to other
// hosts. Reached are the files and folders that links lead to.
func Broken(root string, pages []*Page) (broken []string, reached map[string]bool) {
	anchors := make(map[string]map[string]bool, len(pages))
	for _, p := range pages {
		anchors[p.Path] = p.anchors()
	}
	reached = map[string]bool{}
	for _, p := range pages {
		for _, link := range p.links() {
			to, err := url.Parse(link)
			if err != nil {
				broken = append(broken, fmt.Sprintf("%s: %s is no link: %v", p.Path, link, err))
				continue
			}
			if to.Scheme != "" || to.Host != "" {
				continue
			}
			target := p.Path
			if to.Path != "" {
				target = path.Join(path.Dir(p.Path), to.Path)
				_, err := os.Stat(filepath.Join(root, filepath.FromSlash(target)))
				if err != nil || strings.HasPrefix(target, "..") || path.IsAbs(to.Path) {
					broken = append(broken, fmt.Sprintf("%s: %s: there is no such file", p.Path, link))
					continue
				}
			}
			if target != p.Path {
				reached[target] = true
			}
			if to.Fragment != "" && !anchors[target][to.Fragment] {
				broken = append(broken, fmt.Sprintf("%s: %s: there is no such heading", p.Path, link))
			}
		}
	}
	return broken, reached
}

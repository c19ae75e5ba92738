package viewtest

import (
	"fmt"
	"math/rand/v2"
	"unicode/utf16"

	"larder.local/internal/jsontext"
)

// Print writes the value in one of its many equal forms, chosen by seed: white
// space, escapes, and the order of members whose names differ after folding.
func (n Node) Print(seed uint64) []byte {
	p := printer{chance: rand.New(rand.NewPCG(seed, 1))}
	p.node(n)
	return p.out
}

type printer struct {
	out    []byte
	chance *rand.Rand
}

func (p *printer) space() {
	const spaces = " \n\t\r"
	for p.chance.IntN(8) == 0 {
		p.out = append(p.out, spaces[p.chance.IntN(len(spaces))])
	}
}

func (p *printer) node(n Node) {
	p.space()
	switch n.Kind {
	case Token:
		p.out = append(p.out, n.Text...)
	case Text:
		p.text(n.Text)
	case List:
		p.out = append(p.out, '[')
		for i, item := range n.Items {
			p.comma(i)
			p.node(item)
		}
		p.space()
		p.out = append(p.out, ']')
	case Object:
		p.out = append(p.out, '{')
		for i, m := range p.shuffled(n.Members) {
			p.comma(i)
			p.space()
			p.text(m.Name)
			p.space()
			p.out = append(p.out, ':')
			p.node(m.Value)
		}
		p.space()
		p.out = append(p.out, '}')
	}
	p.space()
}

func (p *printer) comma(i int) {
	if i > 0 {
		p.out = append(p.out, ',')
	}
}

// shuffled keeps the order of names that fold alike, because it has a meaning.
func (p *printer) shuffled(members []Member) []Member {
	alike := make(map[string][]Member)
	for _, m := range members {
		folded := jsontext.FoldName(m.Name)
		alike[folded] = append(alike[folded], m)
	}
	all := make([]Member, len(members))
	for i, from := range p.chance.Perm(len(members)) {
		folded := jsontext.FoldName(members[from].Name)
		all[i], alike[folded] = alike[folded][0], alike[folded][1:]
	}
	return all
}

func (p *printer) text(s string) {
	p.out = append(p.out, '"')
	for _, r := range s {
		switch {
		case p.chance.IntN(16) == 0 || r < ' ' || r == '"' || r == '\\':
			p.escaped(r)
		default:
			p.out = append(p.out, string(r)...)
		}
	}
	p.out = append(p.out, '"')
}

func (p *printer) escaped(r rune) {
	short := map[rune]string{'"': `\"`, '\\': `\\`, '/': `\/`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}
	if s, ok := short[r]; ok && p.chance.IntN(2) == 0 {
		p.out = append(p.out, s...)
		return
	}
	form := `\u%04x`
	if p.chance.IntN(2) == 0 {
		form = `\u%04X`
	}
	for _, unit := range utf16.Encode([]rune{r}) {
		p.out = fmt.Appendf(p.out, form, unit)
	}
}

package menu_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"pgregory.net/rapid"

	"larder.local/internal/jsontext"
	"larder.local/internal/menu"
	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/viewtest"
)

// referenceWalk creates a Published with a separate walk for each value. It is an
// independent implementation of the documented format. The single pass must produce the
// same bytes.
type referenceWalk struct {
	Values []string `json:"values"` // of the stop lists, in order of first occurrence
	Of     []int    `json:"of"`
}

func referencePublished(view []byte) menu.Published {
	var a referenceWalk
	content := []byte(a.value(view, "view"))
	stops, err := json.Marshal(a)
	if err != nil {
		panic(err)
	}
	return menu.Published{Content: content, Stops: stops}
}

// canonicalText returns the canonical form of a well-formed value.
func canonicalText(value string) string {
	c := jsontext.Canonical{Reader: jsontext.NewReader(value, 0)}
	return string(c.AppendNext(nil))
}

func (a *referenceWalk) value(raw []byte, what string) string {
	raw = bytes.Trim(raw, " \t\r\n")
	switch raw[0] {
	case '"':
		return canonicalText(string(raw))
	case '[':
		inner, elements := "", []string{}
		if what == "list" {
			inner = "element"
		}
		r := jsontext.NewReader(string(raw), 0)
		for range r.Elements() {
			elements = append(elements, a.value([]byte(r.Raw()), inner))
		}
		return "[" + strings.Join(elements, ",") + "]"
	case '{':
		return a.object(raw, what)
	default:
		return string(raw)
	}
}

func (a *referenceWalk) object(raw []byte, what string) string {
	type member struct{ folded, name, value string }
	var all, cut []member
	r, at := jsontext.NewReader(string(raw), 0), 0
	for name := range r.Members() {
		before := string(raw[at:r.Offset()]) // comma, name and colon
		named := jsontext.NewReader(before[strings.IndexByte(before, '"'):], 0)
		literal := canonicalText(named.Raw())
		value, folded := r.Raw(), jsontext.FoldName(name)
		at = r.Offset()
		m := member{folded, literal, value}
		if what == "element" && (folded == "iscontaininstoplist" || folded == "isliststoped" || folded == "disabled") {
			cut = append(cut, m)
			continue
		}
		all = append(all, m)
	}
	written := func(members []member) string {
		slices.SortStableFunc(members, func(a, b member) int { return strings.Compare(a.folded, b.folded) })
		texts := make([]string, len(members))
		for i, m := range members {
			inner := ""
			if what == "view" && (m.folded == "products" || m.folded == "ingredients") {
				inner = "list"
			}
			texts[i] = m.name + ":" + a.value([]byte(m.value), inner)
		}
		return "{" + strings.Join(texts, ",") + "}"
	}
	if what == "element" {
		a.stop(written(cut))
	}
	return written(all)
}

// stop adds the stop value of the next element.
func (a *referenceWalk) stop(value string) {
	at := slices.Index(a.Values, value)
	if at < 0 {
		at = len(a.Values)
		a.Values = append(a.Values, value)
	}
	a.Of = append(a.Of, at)
}

// viewIn returns the text of the view in a response, like viewOf.
func viewIn(answer []byte) []byte {
	answer = bytes.TrimPrefix(answer, []byte("\ufeff"))
	view, bare := answer, false
	r := jsontext.NewReader(string(answer), 0)
	for name := range r.Members() {
		switch jsontext.FoldName(name) {
		case "result":
			view = []byte(r.Raw())
		case "products", "categories":
			bare = true
		}
	}
	if bare {
		return answer
	}
	return view
}

// sameAsReference fails unless p equals the result of the reference implementation.
func sameAsReference(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, answer []byte, p menu.Published,
) {
	t.Helper()
	if diff := differing(referencePublished(viewIn(answer)), p); diff != "" {
		t.Fatalf("%.2000q (-want +got):\n%s", answer, diff)
	}
}

// asciiOf escapes non-ASCII characters, as many programs do.
func asciiOf(view []byte) []byte {
	var b bytes.Buffer
	for _, r := range string(view) {
		switch {
		case r < utf8.RuneSelf:
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}

// The single pass produces the same result as the reference implementation.
func TestOnePassEqualsTheReference(t *testing.T) {
	t.Parallel()
	indented := func(view []byte) []byte {
		var b bytes.Buffer
		if err := json.Indent(&b, view, "", "  "); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	generated := sandbox.Generate{Restaurants: 3, Products: 120, Seed: 7}.Menu(0)
	for name, view := range map[string][]byte{
		"small": []byte(smallView), "odd": []byte(menuWithIssues(60)), "nested": []byte(nestedMenu), "generated": generated, "indented": indented(generated),
		"in ASCII": asciiOf(generated),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, p, err := menu.DecodePublished(view)
			if err != nil {
				t.Fatal(err)
			}
			sameAsReference(t, view, p)
		})
	}
	t.Run("any", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			body := answer(viewtest.Views().Draw(t, "view"), rapid.Uint64().Draw(t, "seed"))
			_, p, err := menu.DecodePublished(body)
			if shape := (*menu.ShapeError)(nil); errors.As(err, &shape) {
				t.Skip("a view without lists")
			} else if err != nil {
				t.Fatalf("DecodePublished(%s): %v", body, err)
			}
			sameAsReference(t, body, p)
		})
	})
}

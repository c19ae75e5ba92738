package menu_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larder.local/internal/menu"
)

// searched returns the names that a search finds.
func searched(text string, names ...string) []string {
	view := &menu.View{}
	for _, name := range names {
		view.Products = append(view.Products, menu.Product{ID: name, Name: name})
	}
	c := menu.Compile(view, "r", menu.DefaultSettings())
	hits, _ := c.Search(menu.Query{Text: text, After: menu.None})
	var found []string
	for _, p := range hits {
		found = append(found, c.Products().At(p).Name())
	}
	return found
}

func TestSearchTreatsSpellingsAsEqual(t *testing.T) {
	t.Parallel()
	for _, spellings := range [][]string{
		{"كنافة", "كنافه"},
		{"ISPANAKLI", "ıspanaklı", "İspanaklı", "ispanakli", "ISPANAKLİ"},
		{"bœuf", "BŒUF", "boeuf", "BOEUF"},
		{"Crème", "creme", "CRÈME"},
		{
			"coca-cola", "coca\u2010cola", "coca\u2011cola", "coca\u2012cola", "coca\u2013cola", "coca\u2014cola", "coca\u2015cola",
			"coca\u2212cola", "coca\ufe63cola", "coca\uff0dcola", "coca\u00adcola", "cocacola",
		},
	} {
		for _, name := range spellings {
			for _, text := range spellings {
				if got := searched(text, name, "other"); !slices.Equal(got, []string{name}) {
					t.Errorf("searching %q among %q finds %q", text, name, got)
				}
			}
		}
	}
	for _, text := range []string{"coca cola", "coca-cola", "coca\u2013cola"} {
		if got := searched(text, "coca cola", "coca-cola", "other"); len(got) != 2 {
			t.Errorf("searching %q finds %q", text, got)
		}
	}
}

func TestSearchToleratesOneWrongLetter(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  string
		names []string
		want  []string
	}{
		"another letter":                    {"chickem", []string{"Chicken", "Beef"}, []string{"Chicken"}},
		"a missing letter":                  {"mozarella", []string{"Mozzarella"}, []string{"Mozzarella"}},
		"an extra letter":                   {"burgeer", []string{"Burger"}, []string{"Burger"}},
		"two swapped letters":               {"tomaot", []string{"Tomato"}, []string{"Tomato"}},
		"the first letter":                  {"nurger", []string{"Burger"}, []string{"Burger"}},
		"five letters, one of them missing": {"piza", []string{"Pizza"}, []string{"Pizza"}},
		"another script":                    {"пельмени", []string{"Пельмены"}, []string{"Пельмены"}},
		"a word with punctuation around it": {"chickem!", []string{"«Chicken»"}, []string{"«Chicken»"}},
		"each word by itself":               {"chickem sopu soup", []string{"Chicken soup"}, nil},
		"with a correct word":               {"chickem soup", []string{"Chicken soup", "Chicken"}, []string{"Chicken soup"}},
		"two wrong letters":                 {"chikcem", []string{"Chicken"}, nil},
		"four letters":                      {"beff", []string{"Beef"}, nil},
		"a dish with the exact word wins":   {"latte", []string{"Matte", "Latte"}, []string{"Latte"}},
		"another number":                    {"12345", []string{"No. 12346"}, nil},
	} {
		if diff := cmp.Diff(c.want, searched(c.text, c.names...)); diff != "" {
			t.Errorf("%s: %q (-want +got):\n%s", name, c.text, diff)
		}
	}
}

// distance returns the optimal string alignment distance of two words, computed with the
// full table.
func distance(a, b []rune) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		for j := range rows[i] {
			switch {
			case i == 0 || j == 0:
				rows[i][j] = i + j
			default:
				cost := 1
				if a[i-1] == b[j-1] {
					cost = 0
				}
				rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
				if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
					rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
				}
			}
		}
	}
	return rows[len(a)][len(b)]
}

// Search agrees with the definition of the distance.
func TestSearchAgreesWithTheDistance(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		letters := make([]rune, 4+r.IntN(4))
		for i := range letters {
			letters[i] = []rune("abжü")[r.IntN(4)]
		}
		return string(letters)
	}
	found := 0
	for range 20_000 {
		name, text := word(), word()
		folded := strings.ReplaceAll(name, "ü", "u")
		a, b := []rune(folded), []rune(strings.ReplaceAll(text, "ü", "u"))
		want := strings.Contains(folded, string(b)) || max(len(a), len(b)) >= 5 && distance(a, b) == 1
		if got := len(searched(text, name)) == 1; got != want {
			t.Fatalf("searching %q among %q: %v, want %v", text, name, got, want)
		}
		if want {
			found++
		}
	}
	if found < 100 {
		t.Errorf("only %d of the words were similar", found)
	}
}

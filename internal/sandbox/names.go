package sandbox

import (
	_ "embed" // the word lists
	"encoding/json"
	"strconv"
	"sync"
)

//go:embed names.json
var namesJSON []byte

// wordLists are the words of generated menus. Parts and Groups have a list for each kind of ingredient.
type wordLists struct {
	Brands, Places, Categories, Styles, Mains, Sides, Native, Sentences []string
	MainImages, NativeImages                                            []string // of Mains and Native, without ".svg"
	Parts, Groups                                                       [kinds][]string
}

// words returns the word lists. Callers must not change them.
var words = sync.OnceValue(func() (lists wordLists) { //nolint:gochecknoglobals // read only
	if err := json.Unmarshal(namesJSON, &lists); err != nil {
		panic("sandbox: names.json: " + err.Error()) // tests generate menus
	}
	return lists
})

// dishName returns the name of the k-th dish. Its words depend only on k, so that names differ; rng chooses their form.
func dishName(d *rng, k int) string {
	style, main, with, native := words().Styles, words().Mains, words().Sides, words().Native
	name := style[k%len(style)] + " " + main[k%len(main)]
	if w := with[k%len(with)]; w != "" {
		name += " " + w
	}
	if k%6 == 5 {
		name = native[k/6%len(native)]
		if k/6 >= len(native) {
			name += " № " + strconv.Itoa(k/6)
		}
		return name
	}
	if k >= len(style)*len(main)*len(with) {
		name += " no. " + strconv.Itoa(k)
	}
	if d.n(9) == 0 {
		name += pick(d, []string{" 🌶️", " 🔥", " 🌱", " (new)", " XL"})
	}
	return name
}

// dishImage returns the name of the image of the k-th dish. It shows the dish that [dishName] names.
func dishImage(k int) string {
	if k%6 == 5 {
		return words().NativeImages[k/6%len(words().Native)]
	}
	return words().MainImages[k%len(words().Mains)]
}

func partName(d *rng, kind, i int) string {
	size := []string{"", " 30 g", " 50 g", " 80 g", " double", " extra", " small", " large"}
	list := words().Parts[kind]
	name := list[i%len(list)] + size[i/len(list)%len(size)]
	if round := i / (len(list) * len(size)); round > 0 {
		name += " " + strconv.Itoa(round+1)
	}
	if d.n(40) == 0 {
		name += " ⭐"
	}
	return name
}

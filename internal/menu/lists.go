package menu

import (
	"slices"
	"sync"
)

// lists are those of a view while it is read and nobody knows how long they
// become: making them longer again and again would cost a fifth of reading them.
type lists struct {
	categories  []Category
	products    []Product
	schemes     []Scheme
	groups      []Group
	ingredients []Ingredient
}

// grounds are where lists grow. Those of a body that is refused are not left.
var grounds = sync.Pool{New: func() any { return new(lists) }} //nolint:gochecknoglobals // room alone, of no state

// leave gives the view its lists and leaves the room to the next ones.
func (l *lists) leave(v *View) {
	v.Categories, v.Products = taken(&l.categories), taken(&l.products)
	v.Schemes, v.Groups, v.Ingredients = taken(&l.schemes), taken(&l.groups), taken(&l.ingredients)
	grounds.Put(l)
}

// taken moves the elements out of the room.
func taken[T any](room *[]T) []T {
	if len(*room) == 0 {
		return nil
	}
	list := slices.Clone(*room)
	clear(*room)
	*room = (*room)[:0]
	return list
}

package validate

import (
	"larder.local/internal/jsontext"
	"larder.local/internal/menu"
	"larder.local/ordering/violation"
)

// Line is a dish, or an ingredient of a dish or of another ingredient.
type Line struct {
	object

	number      int // in its list
	id          value
	otherID     string // another value of ID, in another spelling of its name
	externalID  value
	name        string // only to notice that another item is meant (policy O3)
	price       value
	quantity    value
	group       value // groupId: larder's own field, never sent (policy M4)
	ingredients lines

	match // set by each check
}

// match is what the menu of a check has for a line, and how much of it is ordered.
type match struct {
	parent *Line           // the line that contains this ingredient; nil for a dish
	table  *menu.ItemTable // the dishes or the ingredients of the menu
	index  menu.Index      // in the table, or menu.None
	// units is the number of units per unit of the parent: 0 if the client sent 0 or less,
	// unreadable if it is not known.
	units int64
	per   int64 // units per unit of the dish
	clear bool  // the quantity is valid
}

// lines is a list of dishes or of ingredients.
type lines struct {
	pos       int32 // offset in the body; 0 if the member is missing
	state     state
	truncated bool   // some elements were skipped, or something in them because of a limit
	all       []Line // without the skipped ones
}

// usualDishes is the number of dishes that are allocated with the first one.
const usualDishes = 6

// readLines decodes the dishes of an order, with depth 0, or the ingredients of a line at a depth from 1.
func (d *decoder) readLines(list *lines, depth int) {
	if d.skipNull(&list.pos) {
		return
	}
	*list = lines{pos: d.offset(), state: refused, truncated: list.truncated && depth > 0, all: list.all[:0]}
	if !d.is(jsontext.KindArray, wantArray) {
		list.truncated = true
		return
	}
	if list.state = readable; depth == 1 {
		d.ingredients = list.pos
	}
	for i := range d.Elements() {
		if depth == 0 && list.all == nil {
			list.all = make([]Line, 0, usualDishes)
		}
		d.deepest = max(d.deepest, depth)
		if !d.mayRead(list, i, depth) || !d.readLine(list, i, depth) {
			list.truncated = true
		}
	}
	list.truncated = list.truncated || depth > 0 && d.ingredientCount > maxIngredients
}

// mayRead reports whether the limits allow the next element of a list. It adds one violation for each exceeded limit.
func (d *decoder) mayRead(list *lines, i, depth int) bool {
	switch {
	case depth == 0 && i >= maxDishes:
		if i == maxDishes {
			d.add(at(list.pos), violation.LimitExceeded, violation.Params{"limit": maxDishes}, violation.LimitOfDishes)
		}
	case depth > d.maxDepth:
		if !list.truncated {
			d.add(at(list.pos), violation.TooDeep, nil, "")
		}
	case depth == 0:
		d.ingredientCount = 0
		return true
	case d.ingredientCount < maxIngredients:
		d.ingredientCount++
		return true
	case d.ingredientCount == maxIngredients:
		d.ingredientCount++
		d.add(at(d.ingredients), violation.LimitExceeded, violation.Params{"limit": maxIngredients}, violation.LimitOfIngredients)
	}
	return false
}

// readLine decodes a dish or an ingredient, and appends it to the list. It returns false if the element is not an object.
func (d *decoder) readLine(list *lines, i, depth int) bool {
	pos := d.offset()
	if !d.is(jsontext.KindObject, wantObject) {
		return false
	}
	list.all = append(list.all, Line{object: object{pos: pos}, number: i})
	l := &list.all[len(list.all)-1]
	readMembers(d, lineFields, l, &l.object, func(field, _ string) bool {
		switch field {
		case "ID":
			before := l.id.text
			if d.readValue(&l.id, wantID); before != "" && before != l.id.text {
				l.otherID = before
			}
		case "ingredients":
			d.readLines(&l.ingredients, depth+1)
		case "name": // the catalogue's values are sent (policy P3)
			l.name, _ = d.Text()
		default:
			return false
		}
		return true
	})
	return true
}

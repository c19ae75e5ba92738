package validate

import (
	"slices"

	"larder/internal/jsontext"
	"larder/ordering/violation"
)

// Line is a dish, or an ingredient of a dish or of another ingredient.
type Line struct {
	object

	list        string // the name of the list that contains it
	number      int    // in that list
	id          value
	otherID     string // another value of ID, in another spelling of its name
	externalID  value
	name        string // only to notice that another item is meant (policy O3)
	price       value
	quantity    value
	group       value // groupId: larder's own field, never sent (policy M4)
	ingredients lines
}

// lines is a list of dishes or of ingredients.
type lines struct {
	position
	state     state
	count     int    // elements, including skipped ones
	all       []Line // without the skipped ones
	truncated bool   // some elements were skipped, or something in them because of a limit
}

// readLines decodes the dishes of an order, with depth 0, or the ingredients of a line at a depth from 1.
func (d *decoder) readLines(list *lines, s position, depth int) {
	if d.skipNull(&list.position, s) {
		return
	}
	*list = lines{position: s, state: refused, truncated: list.truncated && depth > 0}
	if !d.is(jsontext.KindArray, s, wantArray) {
		list.truncated = true
		return
	}
	if list.state = readable; depth == 1 {
		d.ingredients = s
	}
	start := len(d.stack)
	for i := range d.Elements() {
		list.count = i + 1
		d.deepest = max(d.deepest, depth)
		if !d.mayRead(list, i, depth) || !d.readElement(s.name, i, depth) {
			list.truncated = true
		}
	}
	list.all = slices.Clone(d.stack[start:])
	d.stack = d.stack[:start]
	list.truncated = list.truncated || depth > 0 && d.ingredientCount > maxIngredients
}

// mayRead reports whether the limits allow the next element of a list. It adds one violation for each exceeded limit.
func (d *decoder) mayRead(list *lines, i, depth int) bool {
	switch {
	case depth == 0 && i >= maxDishes:
		if i == maxDishes {
			d.add(list.position, violation.LimitExceeded, violation.Params{"limit": maxDishes}, violation.LimitOfDishes)
		}
	case depth > d.maxDepth:
		if !list.truncated {
			d.add(list.position, violation.TooDeep, nil, "")
		}
	case depth == 0:
		d.ingredientCount = 0
		return true
	case d.ingredientCount < maxIngredients:
		d.ingredientCount++
		return true
	case d.ingredientCount == maxIngredients:
		d.ingredientCount++
		open := d.open
		d.open = open[:1] // the dish
		d.add(d.ingredients, violation.LimitExceeded, violation.Params{"limit": maxIngredients}, violation.LimitOfIngredients)
		d.open = open
	}
	return false
}

// readElement decodes a dish or an ingredient and pushes it on the stack. It returns false if the element is none.
func (d *decoder) readElement(list string, i, depth int) (ok bool) {
	d.open = append(d.open, step{list, i})
	at := d.here("")
	if ok = d.is(jsontext.KindObject, at, wantObject); ok {
		line := d.readLine(Line{object: object{position: at}, list: list, number: i}, depth)
		d.stack = append(d.stack, line)
	}
	d.open = d.open[:len(d.open)-1]
	return ok
}

func (d *decoder) readLine(l Line, depth int) Line {
	seen := spellings{names: &lineFields.nameTable, start: d.Offset()}
	for name := range d.Members() {
		s := d.here(name)
		i := lineFields.find(name)
		if i == unknownField {
			d.readUnknown(&l.extra, name)
			continue
		}
		field := lineFields.fields[i].name
		if field != "ID" { // of two IDs, the menu decides (policy O3)
			seen.add(i, s.pos)
		}
		switch field {
		case "ID":
			before := l.id.text
			if d.readValue(&l.id, s, wantID); before != "" && before != l.id.text {
				l.otherID = before
			}
		case "externalId":
			d.readValue(&l.externalID, s, wantID)
		case "price":
			d.readValue(&l.price, s, wantNumber)
		case "quantity":
			d.readValue(&l.quantity, s, wantNumber)
		case "groupId":
			d.readValue(&l.group, s, wantID)
		case "ingredients":
			d.readLines(&l.ingredients, s, depth+1)
		case "name": // the catalogue's values are sent (policy P3)
			l.name, _ = d.Text()
		}
	}
	l.end = int32(d.Offset())
	d.checkSpellings(&seen)
	return l
}

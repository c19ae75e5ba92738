package validate

import (
	"larder/internal/jsontext"
	"larder/ordering/violation"
)

func (d *decoder) readDishes(s position) {
	o := d.order
	kind := d.Kind()
	if kind == jsontext.KindNull {
		d.skipNull(&o.dishes, s)
		return
	}
	clear(o.lines) // lines of an earlier list
	o.dishes, o.listed, o.first, o.lines, o.broken = s, readable, none, o.lines[:0], false
	o.base, o.dishCount = dishListPath, 0
	if s.name != "dishList" {
		o.base = member("", s.name)
	}
	if kind != jsontext.KindArray {
		o.listed = refused
		o.broken = true
		d.mismatch(s.pos, member("", s.name), wantArray, kind)
		d.Skip()
		return
	}
	last := none
	for i := range d.Elements() {
		o.dishCount = i + 1
		if i >= maxDishes {
			o.broken = true
			if i == maxDishes {
				params := violation.Params{"limit": maxDishes}
				d.violations.Add(s.pos, member("", s.name), violation.LimitExceeded, params, violation.LimitOfDishes)
			}
			continue
		}
		d.ingredientCount = 0
		if n := d.readLine(i, none, 0, s.name); n != none {
			if last == none {
				o.first = n
			} else {
				o.lines[last].next = n
			}
			last = n
		}
	}
}

// dishListPath is the JSON Pointer of dishList in its usual spelling; dishPaths are those of its elements.
const dishListPath = "/dishList"

var dishPaths = func() (paths [maxDishes]string) { //nolint:gochecknoglobals // constant
	for i := range paths {
		paths[i] = element(dishListPath, i)
	}
	return paths
}()

// linePath returns the JSON Pointer of a line. It is created on first use, because a valid order
// needs only those of its dishes.
func (o *decodedOrder) linePath(n int32) string {
	l := &o.lines[n]
	switch {
	case l.path != "":
	case l.parent != none:
		l.path = element(member(o.linePath(l.parent), o.lines[l.parent].list.nameOr("ingredients")), l.index)
	case o.base == dishListPath:
		l.path = dishPaths[l.index]
	default:
		l.path = element(o.base, l.index)
	}
	return l.path
}

// readLine decodes a dish or an ingredient and returns its index in lines, or none.
func (d *decoder) readLine(i int, parent int32, depth int, list string) int32 {
	o := d.order
	at := d.nextPos()
	if kind := d.Kind(); kind != jsontext.KindObject {
		base := member("", list)
		if parent != none {
			base = member(o.linePath(parent), list)
		}
		d.mismatch(at, element(base, i), wantObject, kind)
		d.Skip()
		if parent != none {
			o.lines[parent].truncated = true
		} else {
			o.broken = true
		}
		return none
	}
	n := o.newLine()
	l := &o.lines[n]
	l.pos, l.index, l.parent, l.depth = at, i, parent, depth
	seen := d.spellingsOf(lineFields)
	for name := range d.Members() {
		s := position{name: name, pos: d.nextPos()}
		switch seen.find(name, s.pos) {
		case lineID:
			before := l.id.text
			if d.readLineValue(&l.id, n, s, wantID); before != "" && before != l.id.text {
				l.otherID = before
			}
		case lineExternalID:
			d.readLineValue(&l.externalID, n, s, wantID)
		case linePrice:
			d.readLineValue(&l.price, n, s, wantNumber)
		case lineQuantity:
			d.readLineValue(&l.quantity, n, s, wantNumber)
		case lineGroup:
			d.readLineValue(&l.group, n, s, wantID)
		case lineIngredients:
			d.readIngredients(n, s)
			l = &o.lines[n] // o.lines may have been reallocated
		case lineName: // the catalogue's values are sent (policy P3)
			l.name, _ = d.Text()
		case lineMeasure:
			d.Skip()
		default:
			raw := d.Raw()
			if !d.v1 {
				l.extra = append(l.extra, extraField(name, raw))
			}
		}
	}
	l.end = d.nextPos()
	if seen.repeated != 0 {
		d.checkSpellings(&seen, o.linePath(n))
	}
	return n
}

func (o *decodedOrder) newLine() int32 {
	n := len(o.lines)
	if n < cap(o.lines) {
		o.lines = o.lines[:n+1]
	} else {
		o.lines = append(o.lines, line{})
	}
	o.lines[n].first, o.lines[n].next = none, none
	return int32(n)
}

// readLineValue is readValue, but creates the line's pointer only for a violation.
func (d *decoder) readLineValue(v *value, n int32, s position, w fieldKind) {
	before := d.violations.Len()
	d.readValue(v, "", s, w)
	if d.violations.Len() > before {
		d.violations.Nest(before, d.order.linePath(n))
	}
}

func (d *decoder) readIngredients(n int32, s position) {
	o := d.order
	kind := d.Kind()
	l := &o.lines[n]
	if kind == jsontext.KindNull {
		d.skipNull(&l.list, s)
		return
	}
	l.list, l.first = s, none
	if kind != jsontext.KindArray {
		l.truncated = true
		d.mismatch(s.pos, member(o.linePath(n), s.name), wantArray, kind)
		d.Skip()
		return
	}
	depth, last := l.depth+1, none
	for i := range d.Elements() {
		o.deepest = max(o.deepest, depth)
		switch {
		case depth > d.maxDepth:
			if !o.lines[n].truncated {
				o.lines[n].truncated = true
				d.violations.Add(s.pos, member(o.linePath(n), s.name), violation.TooDeep, nil, "")
			}
			continue
		case d.ingredientCount >= maxIngredients:
			d.truncate(n)
			continue
		}
		d.ingredientCount++
		if child := d.readLine(i, n, depth, s.name); child != none {
			if last == none {
				o.lines[n].first = child
			} else {
				o.lines[last].next = child
			}
			last = child
		}
	}
}

// truncate skips the other ingredients of a dish and adds one violation for that.
func (d *decoder) truncate(n int32) {
	o := d.order
	o.lines[n].truncated = true
	for o.lines[n].parent != none {
		n = o.lines[n].parent
		o.lines[n].truncated = true
	}
	if d.ingredientCount == maxIngredients {
		d.ingredientCount++
		in, params := o.lines[n].list, violation.Params{"limit": maxIngredients}
		d.violations.Add(in.pos, member(o.linePath(n), in.name), violation.LimitExceeded, params, violation.LimitOfIngredients)
	}
}

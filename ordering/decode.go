package ordering

import (
	"math"

	"larder/internal/menu"
	"larder/internal/upstream"
)

// The limits of policy W15 and H1.
const (
	maxBodyDepth   = 32 // levels of brackets in a body
	maxDishes      = 200
	maxIngredients = 100 // a dish, nested ones included
	maxDigits      = 40  // characters of a number
)

// decoder reads an order's body and notes what is not as it should be.
type decoder struct {
	*menu.Reader
	*findings
	forms    *forms
	order    *order
	native   bool
	maxDepth int   // levels of ingredients
	seq      int32 // the place of the value read last
	eaten    int   // ingredients of the current dish
}

// decode reads a body; the error is a *menu.SyntaxError.
func decode(body []byte, forms *forms, native bool, maxDepth int, notes *findings) (*order, error) {
	text, err := menu.Check(body, maxBodyDepth)
	if err != nil {
		return nil, err
	}
	o := &order{first: none}
	d := &decoder{
		Reader: menu.NewReaderOf(text, forms.names), findings: notes, forms: forms, order: o, native: native, maxDepth: maxDepth,
	}
	values := make([]value, len(forms.order)+len(forms.guest)+len(forms.address))
	o.values, values = values[:len(forms.order)], values[len(forms.order):]
	o.guest.values, o.address.values = values[:len(forms.guest)], values[len(forms.guest):]
	o.lines = make([]line, 0, 4+len(text)/160) // few bodies have shorter lines
	d.readOrder()
	return o, nil
}

// place gives the next place in the body.
func (d *decoder) place() int32 {
	d.seq++
	return d.seq
}

func (d *decoder) readOrder() {
	o := d.order
	if kind := d.Kind(); kind != menu.KindObject {
		d.mismatch(0, "", wantObject, kind)
		d.Skip()
		o.state = refused
		return
	}
	o.state = readable
	d.Fields(func(name, folded string) {
		s := spot{name: name, at: d.place()}
		switch folded {
		case "dishlist":
			d.readDishes(s)
		case "guest":
			d.readObject(&o.guest, s, d.forms.guest)
		case "address":
			d.readObject(&o.address, s, d.forms.address)
		case "soonest":
			d.readSoonest(s)
		default:
			d.readField(&o.object, "", s, folded, d.forms.order)
		}
	})
	o.end = d.place()
}

// readField reads a plain field, or keeps one that larder does not know.
func (d *decoder) readField(o *object, path string, s spot, folded string, fields []known) {
	for i := range fields {
		if fields[i].folded == folded {
			d.readValue(&o.values[i], path, s, fields[i].want)
			return
		}
	}
	o.unknown(s.name, d.Raw())
}

// readObject reads a guest or an address.
func (d *decoder) readObject(o *object, s spot, fields []known) {
	if d.Kind() == menu.KindNull {
		if o.name == "" {
			o.spot = s
		}
		return
	}
	clear(o.values)
	o.spot, o.state, o.extra = s, refused, nil
	if kind := d.Kind(); kind != menu.KindObject {
		d.mismatch(s.at, member("", s.name), wantObject, kind)
		d.Skip()
		o.end = d.place()
		return
	}
	o.state = readable
	path := member("", s.name)
	d.Fields(func(name, folded string) {
		d.readField(o, path, spot{name: name, at: d.place()}, folded, fields)
	})
	o.end = d.place()
}

// readSoonest reads larder's own field; the drop-in face passes it on as it
// stands (policy O4).
func (d *decoder) readSoonest(s spot) {
	o := d.order
	if !d.native {
		raw := d.Raw()
		o.soonest = string(raw) == "true"
		o.unknown(s.name, raw)
		return
	}
	switch kind := d.Kind(); kind {
	case menu.KindBool:
		o.soonest, _ = d.Bool()
	case menu.KindNull:
	default:
		d.mismatch(s.at, member("", s.name), wantBoolean, kind)
	}
}

// readValue reads a plain value. A null leaves what an earlier spelling of the
// same field said.
func (d *decoder) readValue(v *value, path string, s spot, w want) {
	kind := d.Kind()
	if kind == menu.KindNull {
		if v.name == "" {
			v.spot = s
		}
		return
	}
	*v = value{spot: s, state: readable}
	var ok bool
	switch w {
	case wantText:
		v.text, ok = d.Text()
	case wantID:
		v.text, ok = d.ID()
		v.numeric = kind == menu.KindNumber
	default:
		d.readNumber(v, path, w, kind)
		return
	}
	if !ok {
		v.state = refused
		d.mismatch(s.at, member(path, s.name), w, kind)
	}
}

func (d *decoder) readNumber(v *value, path string, w want, kind menu.Kind) {
	number, state := d.Decimal()
	v.number, v.isNumber = number, true
	whole := w == wantWhole
	switch {
	case state == menu.NumberNull:
		v.state = absent
	case state == menu.NumberComma:
		v.state = refused
		d.add(v.at, member(path, v.name), DecimalComma, nil, "")
	case state != menu.NumberOK && kind == menu.KindNumber:
		v.state = refused
		d.add(v.at, member(path, v.name), LimitExceeded, Params{"limit": maxDigits}, limitDigits)
	case state == menu.NumberOK && whole && number.IsInteger() && exceeds(number.Abs(), math.MaxInt32):
		v.state = refused
		d.add(v.at, member(path, v.name), LimitExceeded, Params{"limit": math.MaxInt32}, limitWhole)
	case state != menu.NumberOK, whole && !number.IsInteger():
		v.state = refused
		d.mismatch(v.at, member(path, v.name), w, kind)
	}
}

func (d *decoder) mismatch(at int32, path string, w want, got menu.Kind) {
	d.add(at, path, TypeMismatch, Params{"want": string(w), "got": got.String()}, "")
}

// readDishes reads dishList.
func (d *decoder) readDishes(s spot) {
	o := d.order
	if d.Kind() == menu.KindNull {
		if o.dishes.name == "" {
			o.dishes = s
		}
		return
	}
	o.dishes, o.listed, o.first, o.lines, o.broken = s, readable, none, o.lines[:0], false
	o.base, o.dishCount = member("", s.name), 0
	if kind := d.Kind(); kind != menu.KindArray {
		o.listed = refused
		o.broken = true
		d.mismatch(s.at, member("", s.name), wantArray, kind)
		return
	}
	last := none
	d.Array(func(i int) {
		o.dishCount = i + 1
		if i >= maxDishes {
			o.broken = true
			if i == maxDishes {
				d.add(s.at, member("", s.name), LimitExceeded, Params{"limit": maxDishes}, limitDishes)
			}
			return
		}
		d.eaten = 0
		if n := d.readLine(i, none, 0, s.name); n != none {
			if last == none {
				o.first = n
			} else {
				o.lines[last].next = n
			}
			last = n
		}
	})
}

// linePath gives the JSON Pointer of a line, made on first use: an order
// without fault needs only those of its dishes.
func (o *order) linePath(n int32) string {
	l := &o.lines[n]
	if l.path == "" {
		base := o.base
		if l.parent != none {
			base = member(o.linePath(l.parent), o.lines[l.parent].list.or("ingredients"))
		}
		l.path = element(base, l.index)
	}
	return l.path
}

// readLine reads a dish or an ingredient and gives its position in lines.
func (d *decoder) readLine(i int, parent int32, depth int, list string) int32 {
	o := d.order
	at := d.place()
	if kind := d.Kind(); kind != menu.KindObject {
		base := member("", list)
		if parent != none {
			base = member(o.linePath(parent), list)
		}
		d.mismatch(at, element(base, i), wantObject, kind)
		d.Skip()
		if parent != none {
			o.lines[parent].cut = true
		} else {
			o.broken = true
		}
		return none
	}
	n := int32(len(o.lines)) //nolint:gosec // at most maxDishes × (1 + maxIngredients)
	o.lines = append(o.lines, line{
		spot: spot{at: at}, index: i, parent: parent, first: none, next: none, depth: depth,
	})
	d.Fields(func(name, folded string) {
		s := spot{name: name, at: d.place()}
		switch folded {
		case "id":
			d.readLineValue(&o.lines[n].id, n, s, wantID)
		case "externalid":
			d.readLineValue(&o.lines[n].externalID, n, s, wantID)
		case "price":
			d.readLineValue(&o.lines[n].price, n, s, wantNumber)
		case "quantity":
			d.readLineValue(&o.lines[n].quantity, n, s, wantNumber)
		case "groupid":
			d.readLineValue(&o.lines[n].group, n, s, wantID)
		case "ingredients":
			d.readIngredients(n, s)
		case "name", "measure": // the catalogue's are sent (policy P3)
		default:
			if !d.native {
				o.lines[n].extra = append(o.lines[n].extra, upstream.Field{Name: name, Value: d.Raw()})
			}
		}
	})
	o.lines[n].end = d.place()
	return n
}

// readLineValue is readValue with the line's pointer made only for a fault.
func (d *decoder) readLineValue(v *value, n int32, s spot, w want) {
	before := len(d.all)
	d.readValue(v, "", s, w)
	for i := before; i < len(d.all); i++ {
		d.all[i].Path = d.order.linePath(n) + d.all[i].Path
	}
}

// readIngredients reads the ingredients of the line n.
func (d *decoder) readIngredients(n int32, s spot) {
	o := d.order
	kind := d.Kind()
	l := &o.lines[n]
	if kind == menu.KindNull {
		if l.list.name == "" {
			l.list.spot = s
		}
		return
	}
	l.list, l.first = value{spot: s, state: readable}, none
	if kind != menu.KindArray {
		l.list.state, l.cut = refused, true
		d.mismatch(s.at, member(o.linePath(n), s.name), wantArray, kind)
		return
	}
	depth, last := l.depth+1, none
	d.Array(func(i int) {
		switch {
		case depth > d.maxDepth:
			if !o.lines[n].cut {
				o.lines[n].cut = true
				d.add(s.at, member(o.linePath(n), s.name), TooDeep, nil, "")
			}
			return
		case d.eaten >= maxIngredients:
			d.cutShort(n)
			return
		}
		d.eaten++
		if child := d.readLine(i, n, depth, s.name); child != none {
			if last == none {
				o.lines[n].first = child
			} else {
				o.lines[last].next = child
			}
			last = child
		}
	})
}

// cutShort leaves the other ingredients of a dish unread and says so once.
func (d *decoder) cutShort(n int32) {
	o := d.order
	o.lines[n].cut = true
	for o.lines[n].parent != none {
		n = o.lines[n].parent
		o.lines[n].cut = true
	}
	if d.eaten == maxIngredients {
		d.eaten++
		list := o.lines[n].list
		d.add(list.at, member(o.linePath(n), list.name), LimitExceeded, Params{"limit": maxIngredients}, limitIngredients)
	}
}

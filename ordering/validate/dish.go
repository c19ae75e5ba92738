package validate

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"larder/internal/jsontext"
	"larder/internal/menu"
	"larder/ordering/violation"
)

// maxUnits limits the quantity of an ingredient per unit of a dish, with nested quantities multiplied (policy W15).
const maxUnits = 1_000_000

// unreadable is the number of units if it is not known.
const unreadable = -1

// item is the menu's data about a line.
type item struct {
	// index is the dish or ingredient in the catalogue, or menu.None.
	index menu.Index
	// units is the number of units per unit of the parent: 0 if the client sent 0 or less,
	// unreadable if it is not known.
	units int64
	// per is units per unit of the dish.
	per int64
	// clear is true if the quantity is valid.
	clear bool
}

// checkDishes checks every dish and fills items.
func (c *validation) checkDishes() {
	o := c.order
	if o.listed == absent || (o.listed == readable && o.dishCount == 0) {
		addMissing(&c.violations, o.dishes, o.end, "", "dishList", "dishList")
		return
	}
	c.items = slices.Grow(c.items[:0], len(o.lines))[:len(o.lines)]
	c.itemsReady = true
	before := c.violations.Len()
	for n := o.first; n != none; n = o.lines[n].next {
		if c.violations.Len()-before > violation.Max { // the other violations would not be listed (policy H7)
			c.unchecked = n
			return
		}
		c.checkDish(n)
	}
}

func (c *validation) checkDish(n int32) {
	it := &c.items[n]
	*it = item{index: c.find(n), units: 1, per: 1}
	scheme := menu.None
	if it.index != menu.None {
		scheme = c.Catalogue.ProductScheme(it.index)
		c.checkAvailable(n)
		if !c.Catalogue.Products().At(it.index).PriceInvalid() {
			c.checkPrice(n, c.Catalogue.Products().Item(it.index))
		}
	}
	c.checkDishQuantity(n)
	before := c.violations.Len()
	nested := c.checkIngredients(n, it.index != menu.None, scheme, nil)
	if nested && scheme != menu.None && c.violations.Len() == before {
		c.checkFlat(n, scheme)
	}
}

// checkAvailable rejects stopped dishes (policy M10) and dishes that cannot be ordered (policy M9).
func (c *validation) checkAvailable(n int32) {
	p := c.items[n].index
	if c.Catalogue.Orderable(p) {
		return
	}
	product := c.Catalogue.Products().At(p)
	if !c.Catalogue.Available(p) {
		c.refuseLine(n, violation.DishUnavailable, violation.Params{"id": product.ID(), "name": product.Name()}, product.Name())
	}
	reasons := slices.DeleteFunc(slices.Clone(c.Catalogue.Reasons(p)), func(r menu.Reason) bool {
		return r.Code == menu.ReasonStopped
	})
	if len(reasons) > 0 {
		c.refuseLine(n, violation.DishNotOrderable, violation.Params{"id": product.ID(), "reasons": reasons}, product.Name())
	}
}

// checkPrice compares the price that the client sent with the current one (policy P2).
func (c *validation) checkPrice(n int32, current *menu.Item) {
	price := &c.order.lines[n].price
	if price.state != readable || price.number.Cmp(current.Price) == 0 {
		return
	}
	c.refuse(n, price.position, violation.PriceChanged, violation.Params{"sent": number(price.number), "current": number(current.Price)})
}

// checkDishQuantity checks a dish's quantity: positive, at most ordering.max_quantity (policy H10),
// and whole unless the dish is sold by weight (policy M8).
func (c *validation) checkDishQuantity(n int32) {
	l, it := &c.order.lines[n], &c.items[n]
	switch q := &l.quantity; {
	case q.state == absent:
		addMissing(&c.violations, q.position, l.end, c.order.linePath(n), "quantity", "dishList[].quantity")
	case q.state == refused:
	case q.number.Sign() <= 0:
		c.refuse(n, q.position, violation.QuantityNotPositive, violation.Params{"quantity": number(q.number)})
	case q.number.Cmp(jsontext.Whole(int64(c.MaxQuantity))) > 0: // policy H10
		c.refuse(n, q.position, violation.LimitExceeded, violation.Params{"limit": c.MaxQuantity})
	case !q.number.IsWhole() && it.index != menu.None && !c.fractional(c.Catalogue.Products().At(it.index).Measure()):
		c.refuse(n, q.position, violation.QuantityNotWhole, violation.Params{"quantity": number(q.number)})
	default:
		it.clear = true
	}
}

func (c *validation) fractional(m *menu.Measure) bool {
	return m != nil && slices.ContainsFunc(c.FractionalUnits, func(unit string) bool {
		return strings.EqualFold(unit, m.Unit)
	})
}

// checkIngredients checks the ingredients of line n, including missing ones. isKnown reports
// whether the menu has the line, scheme is the line's scheme, and above are the schemes that
// contain it. nested reports whether an ingredient has its own ingredients.
func (c *validation) checkIngredients(n int32, isKnown bool, scheme menu.Index, above []menu.Index) (nested bool) {
	o := c.order
	for child := o.lines[n].first; child != none; child = o.lines[child].next {
		c.checkIngredientLine(n, child)
	}
	if isKnown {
		c.checkGroups(n, scheme, above)
	}
	var inside []menu.Index
	for child := o.lines[n].first; child != none; child = o.lines[child].next {
		if o.lines[child].first == none {
			continue
		}
		nested = true
		if inside == nil {
			inside = append(slices.Clone(above), scheme)
		}
		i := c.items[child].index
		own := menu.None
		if i != menu.None {
			own = c.Catalogue.IngredientScheme(i)
		}
		if slices.Contains(inside, own) { // stop at a cycle of schemes (policy M5)
			own = menu.None
		}
		c.checkIngredients(child, i != menu.None, own, inside)
	}
	return nested
}

func (c *validation) checkIngredientLine(parent, n int32) {
	it := &c.items[n]
	*it = item{index: c.find(n)}
	if it.index != menu.None {
		ingredient := c.Catalogue.Ingredients().At(it.index)
		// For a scheme that cannot be satisfied, its groups are reported instead.
		if reasons := c.Catalogue.IngredientReasons(it.index); len(reasons) > 0 && reasons[0].Code != menu.ReasonGroupUnsatisfiable {
			c.refuseLine(n, violation.IngredientUnavailable,
				violation.Params{"id": ingredient.ID(), "reason": reasons[0].Code}, ingredient.Name())
		}
		if !ingredient.PriceInvalid() {
			c.checkPrice(n, c.Catalogue.Ingredients().Item(it.index))
		}
	}
	c.checkUnits(parent, n)
}

// checkUnits reads the quantity of an ingredient: a whole number from 1, by default 1 (policy M7).
func (c *validation) checkUnits(parent, n int32) {
	l, it := &c.order.lines[n], &c.items[n]
	q := &l.quantity
	it.units = unreadable
	switch {
	case q.state == absent:
		it.units, it.clear = 1, true
	case q.state == refused:
	case q.number.Sign() <= 0:
		it.units = 0
		c.refuse(n, q.position, violation.QuantityNotPositive, violation.Params{"quantity": number(q.number)})
	case !q.number.IsWhole():
		c.refuse(n, q.position, violation.QuantityNotWhole, violation.Params{"quantity": number(q.number)})
	case exceeds(q.number, maxUnits):
		c.refuse(n, q.position, violation.LimitExceeded, violation.Params{"limit": maxUnits})
	default:
		it.units, _ = q.number.Int64()
		it.clear = true
	}
	if !it.clear {
		return
	}
	it.per = it.units * max(c.items[parent].per, 1)
	if it.per > maxUnits {
		it.clear = false
		at := position{name: q.nameOr("quantity"), pos: q.posOr(l.pos)}
		c.refuse(n, at, violation.LimitExceeded, violation.Params{"limit": maxUnits})
	}
}

// exceeds reports whether the magnitude of a whole number of any length exceeds limit.
func exceeds(n jsontext.Number, limit int64) bool {
	whole, ok := n.Int64()
	return !ok || whole > limit || whole < -limit
}

func (c *validation) refuse(n int32, at position, code violation.Code, params violation.Params) {
	c.violations.Add(at.pos, member(c.order.linePath(n), at.name), code, params, c.itemName(n))
}

// refuseLine adds a violation for line n; subject is its name in the message.
func (c *validation) refuseLine(n int32, code violation.Code, params violation.Params, subject string) {
	c.violations.Add(c.order.lines[n].pos, c.order.linePath(n), code, params, subject)
}

// find returns the dish or ingredient of line n (policy O3). If the ID is null, only the externalId counts (policy
// W12). Unless the line certainly means one item, find adds a violation and returns menu.None.
func (c *validation) find(n int32) menu.Index {
	l := &c.order.lines[n]
	id, only := l.id.text, idOrExternalID
	unknown, field := violation.IngredientNotInMenu, "dishList[].ingredients[].ID"
	if l.parent == none {
		unknown, field = violation.DishNotInMenu, "dishList[].ID"
	}
	switch {
	case l.id.state == refused, id == "" && l.externalID.state == refused:
		return menu.None
	case id == "" && l.externalID.text == "":
		addMissing(&c.violations, l.id.position, l.end, c.order.linePath(n), "ID", field)
		return menu.None
	case id == "":
		id, only = l.externalID.text, externalID
	}
	items := c.itemsOf(n)
	meant, sharing := c.named(n, id, only)
	switch {
	case len(sharing) > 0:
		ids := make([]string, len(sharing))
		for k, shared := range sharing {
			ids[k] = items.At(shared).ID()
		}
		c.refuseLine(n, violation.ExternalIDAmbiguous, violation.Params{"externalId": strings.Clone(id), "ids": ids}, "")
	case meant.first == menu.None:
		c.refuseLine(n, unknown, violation.Params{"id": strings.Clone(id)}, "")
	default:
		if other, two := c.contradicts(n, meant); two {
			c.refuseLine(n, violation.IDConflict, conflict(&c.order.lines[n], items, meant.first, other), "")
			return menu.None
		}
	}
	return meant.first
}

// naming is what a text of a line may be.
type naming int

const (
	idOrExternalID naming = iota
	externalID
)

// meaning is the item that a text means, or menu.None, and the others that it could mean, because it is the id or the
// externalId of them. The dish may not offer them.
type meaning struct {
	first  menu.Index
	others []menu.Index
}

// named returns what a text of line n means. On the compatible API it is an externalId first, as the interface says, and
// on /v1 an id. Among several items of an ingredient, those of the dish's groups come first. If several items share the
// externalId, and the id does not decide, named returns them.
func (c *validation) named(n int32, text string, only naming) (m meaning, sharing []menu.Index) {
	items := c.itemsOf(n)
	byID, owners := menu.None, items.ByExternalID(text)
	if at, ok := items.ByID(text); ok && only != externalID {
		byID = at
	}
	all := owners
	if byID != menu.None && len(owners) > 0 && !slices.Contains(owners, byID) {
		all = append(slices.Clone(owners), byID)
	}
	if c.order.lines[n].parent != none && len(all) > 1 {
		if index := c.items[c.order.dishOf(n)].index; index != menu.None {
			byID, owners = offered(c.Catalogue, index, byID, owners)
		}
	}
	switch {
	case byID != menu.None && (c.V1 || len(owners) == 0 || slices.Contains(owners, byID)):
		m.first = byID
	case len(owners) > 1:
		return meaning{first: menu.None}, owners
	case len(owners) == 1:
		m.first = owners[0]
	default:
		m.first = menu.None
	}
	if len(all) > 1 && m.first != menu.None {
		m.others = slices.DeleteFunc(slices.Clone(all), func(i menu.Index) bool { return i == m.first })
	}
	return m, nil
}

// offered returns those of the items with an id or an externalId that the dish offers, or all of them if it offers none.
func offered(from *menu.Catalogue, dish, byID menu.Index, owners []menu.Index) (menu.Index, []menu.Index) {
	all := map[menu.Index]bool{}
	addOffered(from, all, from.ProductScheme(dish), map[menu.Index]bool{})
	inside := slices.DeleteFunc(slices.Clone(owners), func(i menu.Index) bool { return !all[i] })
	switch {
	case len(inside) == 0 && (byID == menu.None || !all[byID]):
		return byID, owners
	case byID != menu.None && !all[byID]:
		byID = menu.None
	}
	return byID, inside
}

// addOffered adds the ingredients of a scheme's groups and of their own schemes.
func addOffered(from *menu.Catalogue, all map[menu.Index]bool, scheme menu.Index, seen map[menu.Index]bool) {
	if scheme == menu.None || seen[scheme] {
		return
	}
	seen[scheme] = true
	for _, limit := range from.Limits(scheme) {
		for _, i := range from.Members(limit.Group) {
			all[i] = true
			addOffered(from, all, from.IngredientScheme(i), seen)
		}
	}
}

// contradicts reports whether line n says that it means another item than the one that its ID means: by another ID, by
// its externalId, or by a name or a price that fits only the other. The other item may be menu.None.
func (c *validation) contradicts(n int32, meant meaning) (other menu.Index, conflict bool) {
	l, items := &c.order.lines[n], c.itemsOf(n)
	if l.otherID != "" {
		if second, _ := c.named(n, l.otherID, idOrExternalID); second.first != meant.first {
			return second.first, true
		}
	}
	found := items.At(meant.first)
	if text := l.externalID.text; l.id.text != "" && text != "" && text != found.ExternalID() &&
		(found.ExternalID() != "" || text != found.ID()) {
		second, _ := c.named(n, text, externalID)
		return second.first, true
	}
	named := func(i menu.Index) bool {
		return strings.EqualFold(strings.TrimSpace(l.name), strings.TrimSpace(items.At(i).Name()))
	}
	costs := func(i menu.Index) bool {
		return !items.At(i).PriceInvalid() && l.price.number.Cmp(items.Item(i).Price) == 0
	}
	for _, other := range meant.others {
		if l.name != "" && named(other) && !named(meant.first) ||
			l.price.state == readable && costs(other) && !costs(meant.first) {
			return other, true
		}
	}
	return menu.None, false
}

// conflict describes a line that names two items.
func conflict(l *line, items *menu.ItemTable, first, other menu.Index) violation.Params {
	names := []string{items.At(first).Name()}
	ids := []string{items.At(first).ID()}
	if other != menu.None {
		names, ids = append(names, items.At(other).Name()), append(ids, items.At(other).ID())
	}
	sent := strings.Clone(cmp.Or(l.externalID.text, l.otherID, l.id.text))
	return violation.Params{"id": strings.Clone(l.id.text), "externalId": sent, "ids": ids, "names": names}
}

// itemsOf returns the dishes or, for the line of an ingredient, the ingredients.
func (c *validation) itemsOf(n int32) *menu.ItemTable {
	if c.order.lines[n].parent == none {
		return c.Catalogue.Products()
	}
	return c.Catalogue.Ingredients()
}

// number returns a number with its exact digits, for params.
func number(n jsontext.Number) json.Number { return json.Number(n.Append(nil)) }

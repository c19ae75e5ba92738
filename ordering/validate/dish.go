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
	case q.number.Cmp(jsontext.Whole(maxUnits)) > 0:
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
	id, onlyExternalID := l.id.text, false
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
		id, onlyExternalID = l.externalID.text, true
	}
	items := c.itemsOf(n)
	meant, named := c.named(n, id, onlyExternalID)
	switch {
	case meant == menu.None && len(named) > 0:
		ids := make([]string, len(named))
		for k, shared := range named {
			ids[k] = items.At(shared).ID()
		}
		c.refuseLine(n, violation.ExternalIDAmbiguous, violation.Params{"externalId": strings.Clone(id), "ids": ids}, "")
	case meant == menu.None:
		c.refuseLine(n, unknown, violation.Params{"id": strings.Clone(id)}, "")
	default:
		if other, two := c.contradicts(n, meant, named); two {
			c.refuseLine(n, violation.IDConflict, conflict(l, items, meant, other), "")
			return menu.None
		}
	}
	return meant
}

// named returns the item that a text of line n means, and all that it could mean, because it is their id or externalId.
// The dish may not offer them. On the compatible API it is an externalId first, as the interface says, and on /v1 an id.
// Among several items of an ingredient, those of the dish's groups come first. If several items share the externalId, and
// the id does not decide, named returns menu.None and them.
func (c *validation) named(n int32, text string, onlyExternalID bool) (meant menu.Index, all []menu.Index) {
	items := c.itemsOf(n)
	byID, owners := menu.None, items.ByExternalID(text)
	if at, ok := items.ByID(text); ok && !onlyExternalID {
		byID = at
	}
	all = owners
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
		return byID, all
	case len(owners) == 1:
		return owners[0], all
	default:
		return menu.None, owners
	}
}

// offered returns those of the items with an id or an externalId that the dish offers, or all of them if it offers none.
func offered(from *menu.Catalogue, dish, byID menu.Index, owners []menu.Index) (menu.Index, []menu.Index) {
	all := map[menu.Index]bool{}
	addOffered(from, all, from.ProductScheme(dish), map[menu.Index]bool{})
	inside := slices.DeleteFunc(slices.Clone(owners), func(i menu.Index) bool { return !all[i] })
	switch {
	case all[byID]:
		return byID, inside
	case len(inside) == 0:
		return byID, owners
	default:
		return menu.None, inside
	}
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
func (c *validation) contradicts(n int32, meant menu.Index, named []menu.Index) (other menu.Index, conflict bool) {
	l, items := &c.order.lines[n], c.itemsOf(n)
	if l.otherID != "" {
		if second, _ := c.named(n, l.otherID, false); second != meant {
			return second, true
		}
	}
	found := items.At(meant)
	if text := l.externalID.text; l.id.text != "" && text != "" && text != found.ExternalID() &&
		(found.ExternalID() != "" || text != found.ID()) {
		second, _ := c.named(n, text, true)
		return second, true
	}
	hasName := func(i menu.Index) bool {
		return strings.EqualFold(strings.TrimSpace(l.name), strings.TrimSpace(items.At(i).Name()))
	}
	costs := func(i menu.Index) bool {
		return !items.At(i).PriceInvalid() && l.price.number.Cmp(items.Item(i).Price) == 0
	}
	for _, other := range named {
		if l.name != "" && hasName(other) && !hasName(meant) ||
			l.price.state == readable && costs(other) && !costs(meant) {
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

package validate

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"larder.local/internal/jsontext"
	"larder.local/internal/menu"
	"larder.local/ordering/violation"
)

// maxUnits limits the quantity of an ingredient per unit of a dish, with nested quantities multiplied (policy W15).
const maxUnits = 1_000_000

// unreadable is the number of units if it is not known.
const unreadable = -1

// dish returns the dish that contains the line.
func (it *Line) dish() *Line {
	for it.parent != nil {
		it = it.parent
	}
	return it
}

// nested reports whether an ingredient of the line has ingredients.
func (it *Line) nested() bool {
	for i := range it.ingredients.all {
		if len(it.ingredients.all[i].ingredients.all) > 0 {
			return true
		}
	}
	return false
}

// entry returns what the menu has for the line; it must have something.
func (it *Line) entry() menu.Entry { return it.table.At(it.index) }

// sent returns what is sent for the line.
func (it *Line) sent() *menu.Item { return it.table.Item(it.index) }

// title returns the menu's name of the line; it is empty if the menu has none.
func (it *Line) title() string {
	if it.index == menu.None {
		return ""
	}
	return it.entry().Name()
}

// refuse adds a violation for the value of a line at an offset, or for the line at its own.
func (c *check) refuse(it *Line, pos int32, code violation.Code, params violation.Params) {
	c.add(at(pos), code, params, it.title())
}

// checkDishes checks every dish, and sets what the menu has for its lines. complete is false if some were skipped, here
// or by the decoder.
func (c *check) checkDishes() (dishes []Line, complete bool) {
	list := &c.order.dishes
	if list.state == absent || list.state == readable && len(list.all) == 0 && !list.truncated {
		c.missing(c.order.placeOf(list.pos, "dishList"), "dishList")
		return nil, false
	}
	before := len(c.all)
	for i := range list.all {
		if len(c.all)-before > violation.Max { // the other violations would not be listed (policy H7)
			return list.all[:i], false
		}
		c.checkDish(&list.all[i])
	}
	return list.all, !list.truncated
}

func (c *check) checkDish(it *Line) {
	scheme := menu.None
	it.match = match{table: c.Catalogue.Products(), units: 1, per: 1}
	if it.index = c.find(it); it.index != menu.None {
		scheme = c.Catalogue.ProductScheme(it.index)
		c.checkAvailable(it)
		c.checkPrice(it)
	}
	c.checkDishQuantity(it)
	before := len(c.all)
	c.checkIngredients(it)
	c.checkGroups(it, scheme, nil)
	if it.nested() && scheme != menu.None && len(c.all) == before {
		c.checkFlat(it, scheme)
	}
}

// checkAvailable rejects stopped dishes (policy M10) and dishes that cannot be ordered (policy M9).
func (c *check) checkAvailable(it *Line) {
	if c.Catalogue.Orderable(it.index) {
		return
	}
	product := it.entry()
	if !c.Catalogue.Available(it.index) {
		params := violation.Params{"id": product.ID(), "name": product.Name()}
		c.addReturn(params, product.ID())
		c.refuse(it, it.pos, violation.DishUnavailable, params)
	}
	reasons := slices.DeleteFunc(slices.Clone(c.Catalogue.Reasons(it.index)), func(r menu.Reason) bool {
		return r.Code == menu.ReasonStopped
	})
	if len(reasons) > 0 {
		c.refuse(it, it.pos, violation.DishNotOrderable, violation.Params{"id": product.ID(), "reasons": reasons})
	}
}

// addReturn adds the time at which a snoozed dish or ingredient returns, if it is known.
func (c *check) addReturn(to violation.Params, id string) {
	if until, known := c.Catalogue.Snoozes.Returns(id); known {
		to["until"] = localTime(until, c.location)
	}
}

// checkPrice compares the price that the client sent with the current one (policy P2).
func (c *check) checkPrice(it *Line) {
	if it.price.state != readable {
		return
	}
	if current := it.current(); current.known && it.price.number.Cmp(current.Number) != 0 {
		params := violation.Params{"sent": number(it.price.number), "current": number(current.Number)}
		c.refuse(it, it.price.pos, violation.PriceChanged, params)
	}
}

// appendPrices appends the prices of the lines, each followed by those of its ingredients.
func appendPrices(to []amount, lines []Line) []amount {
	for i := range lines {
		to = appendPrices(append(to, lines[i].current()), lines[i].ingredients.all)
	}
	return to
}

// comparePrices adds a violation for each line whose price differs from an earlier one, as appendPrices returned it. It
// returns the earlier prices of other lines.
func (c *check) comparePrices(lines []Line, earlier []amount) []amount {
	for i := range lines {
		it, was, is := &lines[i], earlier[0], lines[i].current()
		if was.Cmp(is.Number) != 0 {
			params := violation.Params{"sent": number(was.Number), "current": number(is.Number)}
			c.add(atMember(it.pos, "price"), violation.PriceChanged, params, it.title())
		}
		earlier = c.comparePrices(it.ingredients.all, earlier[1:])
	}
	return earlier
}

// checkDishQuantity checks a dish's quantity: positive, at most ordering.max_quantity (policy H10),
// and whole unless the dish is sold by weight (policy M8).
func (c *check) checkDishQuantity(it *Line) {
	switch q := &it.quantity; {
	case q.state == absent:
		params := violation.Params{"field": "dishList[].quantity"}
		c.add(it.placeOf(q.pos, "quantity"), violation.FieldRequired, params, it.title())
	case q.state == refused:
	case q.number.Sign() <= 0:
		c.refuse(it, q.pos, violation.QuantityNotPositive, violation.Params{"quantity": number(q.number)})
	case q.number.Cmp(jsontext.Whole(int64(c.MaxQuantity))) > 0: // policy H10
		c.refuse(it, q.pos, violation.LimitExceeded, violation.Params{"limit": c.MaxQuantity})
	case !q.number.IsWhole() && it.index != menu.None && !c.fractional(it.entry().Measure()):
		c.refuse(it, q.pos, violation.QuantityNotWhole, violation.Params{"quantity": number(q.number)})
	default:
		it.clear = true
	}
}

func (r *rules) fractional(m *menu.Measure) bool {
	return m != nil && slices.ContainsFunc(r.FractionalUnits, func(unit string) bool {
		return strings.EqualFold(unit, m.Unit)
	})
}

// checkIngredients checks the ingredients of a line, and theirs.
func (c *check) checkIngredients(parent *Line) {
	for i := range parent.ingredients.all {
		it := &parent.ingredients.all[i]
		it.match = match{parent: parent, table: c.Catalogue.Ingredients()}
		if it.index = c.find(it); it.index != menu.None {
			// For a scheme that cannot be satisfied, its groups are reported instead.
			if reasons := c.Catalogue.IngredientReasons(it.index); len(reasons) > 0 && reasons[0].Code != menu.ReasonGroupUnsatisfiable {
				params := violation.Params{"id": it.entry().ID(), "reason": reasons[0].Code}
				c.addReturn(params, it.entry().ID())
				c.refuse(it, it.pos, violation.IngredientUnavailable, params)
			}
			c.checkPrice(it)
		}
		c.checkUnits(it)
		c.checkIngredients(it)
	}
}

// checkUnits reads the quantity of an ingredient: a whole number from 1, by default 1 (policy M7).
func (c *check) checkUnits(it *Line) {
	q := &it.quantity
	it.units = unreadable
	switch {
	case q.state == absent:
		it.units, it.clear = 1, true
	case q.state == refused:
	case q.number.Sign() <= 0:
		it.units = 0
		c.refuse(it, q.pos, violation.QuantityNotPositive, violation.Params{"quantity": number(q.number)})
	case !q.number.IsWhole():
		c.refuse(it, q.pos, violation.QuantityNotWhole, violation.Params{"quantity": number(q.number)})
	case q.number.Cmp(jsontext.Whole(maxUnits)) > 0:
		c.refuse(it, q.pos, violation.LimitExceeded, violation.Params{"limit": maxUnits})
	default:
		it.units, it.clear = q.number.Int64(), true
	}
	if !it.clear {
		return
	}
	it.per = it.units * max(it.parent.per, 1)
	if it.per > maxUnits {
		it.clear = false
		where := atMember(it.pos, "quantity")
		if q.pos > 0 {
			where = at(q.pos)
		}
		c.add(where, violation.LimitExceeded, violation.Params{"limit": maxUnits}, it.title())
	}
}

// find returns the dish or ingredient of a line (policy O3). If the ID is null, only the externalId counts (policy
// W12). Unless the line certainly means one item, find adds a violation and returns menu.None.
func (c *check) find(it *Line) menu.Index {
	it.index = menu.None // the violations have no name
	id, onlyExternalID := it.id.text, false
	unknown, field := violation.IngredientNotInMenu, "dishList[].ingredients[].ID"
	if it.parent == nil {
		unknown, field = violation.DishNotInMenu, "dishList[].ID"
	}
	switch {
	case it.id.state == refused, id == "" && it.externalID.state == refused:
		return menu.None
	case id == "" && it.externalID.text == "":
		c.missing(it.placeOf(it.id.pos, "ID"), field)
		return menu.None
	case id == "":
		id, onlyExternalID = it.externalID.text, true
	}
	if c.work < 0 { // reported
		return menu.None
	}
	meant, named := c.named(it, id, onlyExternalID)
	switch {
	case c.work < 0: // what the text means was perhaps not found
		c.add(at(it.pos), violation.LimitExceeded, violation.Params{"limit": workLimit}, violation.LimitOfWork)
		return menu.None
	case meant == menu.None && len(named) > 0:
		ids := make([]string, 0, violation.MaxIDs)
		for _, shared := range named[:min(len(named), violation.MaxIDs)] {
			ids = append(ids, it.table.At(shared).ID())
		}
		c.refuse(it, it.pos, violation.ExternalIDAmbiguous, violation.Params{"externalId": id, "ids": ids})
	case meant == menu.None:
		c.refuse(it, it.pos, unknown, violation.Params{"id": id})
	default:
		if other, two := c.contradicts(it, meant, named); two {
			c.refuse(it, it.pos, violation.IDConflict, conflict(it, meant, other))
			return menu.None
		}
	}
	return meant
}

// named returns the item that a text of a line means, and all that it could mean, because it is their id or externalId.
// The dish may not offer them. On the compatible API it is an externalId first, as the interface says, and on /v1 an id.
// Among several items of an ingredient, those of the dish's groups come first. If several items share the externalId, and
// the id does not decide, named returns menu.None and them.
func (c *check) named(it *Line, text string, onlyExternalID bool) (meant menu.Index, all []menu.Index) {
	byID, owners := menu.None, it.table.ByExternalID(text)
	if i, ok := it.table.ByID(text); ok && !onlyExternalID {
		byID = i
	}
	all = owners
	c.work -= 2 * lookup * len(owners) // their names and prices may be compared
	if byID != menu.None && len(owners) > 0 && !slices.Contains(owners, byID) {
		all = append(slices.Clone(owners), byID)
	}
	if dish := it.dish(); dish != it && len(all) > 1 && dish.index != menu.None {
		byID, owners = offeredOf(c, dish.index, byID, owners)
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

// offeredOf returns those of the items with an id or an externalId that the dish offers, or all of them if it offers none.
func offeredOf(c *check, dish, byID menu.Index, owners []menu.Index) (menu.Index, []menu.Index) {
	scheme := c.Catalogue.ProductScheme(dish)
	all, known := c.offered[scheme]
	if !known {
		all = map[menu.Index]bool{}
		addOffered(c, all, scheme, map[menu.Index]bool{})
		if c.offered == nil {
			c.offered = map[menu.Index]map[menu.Index]bool{}
		}
		c.offered[scheme] = all
	}
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

// addOffered adds the ingredients of a scheme's groups and of their own schemes, until the order's work is used up.
func addOffered(c *check, all map[menu.Index]bool, scheme menu.Index, seen map[menu.Index]bool) {
	if scheme == menu.None || seen[scheme] {
		return
	}
	seen[scheme] = true
	for _, limit := range c.Catalogue.Limits(scheme) {
		members := c.Catalogue.Members(limit.Group)
		if c.work -= 2 * lookup * len(members); c.work < 0 {
			return
		}
		for _, i := range members {
			all[i] = true
			addOffered(c, all, c.Catalogue.IngredientScheme(i), seen)
		}
	}
}

// contradicts reports whether a line says that it means another item than the one that its ID means: by another ID, by
// its externalId, or by a name or a price that fits only the other. The other item may be menu.None.
func (c *check) contradicts(it *Line, meant menu.Index, named []menu.Index) (other menu.Index, conflict bool) {
	items := it.table
	if it.otherID != "" {
		if second, _ := c.named(it, it.otherID, false); second != meant {
			return second, true
		}
	}
	found := items.At(meant)
	if text := it.externalID.text; it.id.text != "" && text != "" && text != found.ExternalID() &&
		(found.ExternalID() != "" || text != found.ID()) {
		second, _ := c.named(it, text, true)
		return second, true
	}
	name := strings.TrimSpace(it.name)
	hasName := func(i menu.Index) bool { return strings.EqualFold(name, strings.TrimSpace(items.At(i).Name())) }
	costs := func(i menu.Index) bool {
		return !items.At(i).PriceInvalid() && it.price.number.Cmp(items.Item(i).Price) == 0
	}
	for _, other := range named {
		if other == meant {
			continue
		}
		if it.name != "" && hasName(other) && !hasName(meant) ||
			it.price.state == readable && costs(other) && !costs(meant) {
			return other, true
		}
	}
	return menu.None, false
}

// conflict describes a line that names two items.
func conflict(it *Line, first, other menu.Index) violation.Params {
	names := []string{it.table.At(first).Name()}
	ids := []string{it.table.At(first).ID()}
	if other != menu.None {
		names, ids = append(names, it.table.At(other).Name()), append(ids, it.table.At(other).ID())
	}
	sent := cmp.Or(it.externalID.text, it.otherID, it.id.text)
	return violation.Params{"id": it.id.text, "externalId": sent, "ids": ids, "names": names}
}

// number returns a number with its exact digits, for params.
func number(n jsontext.Number) json.Number { return json.Number(n.Append(nil)) }

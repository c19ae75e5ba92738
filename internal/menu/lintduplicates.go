package menu

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// duplicates reports missing and duplicate ids, and (scheme, group) pairs with several limits (policy W9).
func (l *linter) duplicates() {
	v := l.view
	repeats(l, "category", v.Categories, func(c *Category) (string, string) { return c.ID, c.Name })
	repeats(l, "product", v.Products, func(p *Product) (string, string) { return p.ID, p.Name })
	repeats(l, "scheme", v.Schemes, func(s *Scheme) (string, string) { return s.ID, s.ID })
	repeats(l, "group", v.Groups, func(g *Group) (string, string) { return g.ID, g.Name })
	repeats(l, "ingredient", v.Ingredients, func(i *Ingredient) (string, string) { return i.ID, i.Name })
	limits := map[[2]string]int{} // by scheme and group
	for i := range v.Schemes {
		for _, limit := range v.Schemes[i].Groups {
			scheme, group := v.Schemes[i].ID, limit.GroupID
			key := [...]string{scheme, group}
			if limits[key]++; limits[key] == 2 && scheme != "" && group != "" {
				l.add(LintDuplicateLimit, l.dishesOf("scheme", scheme), []string{"scheme", scheme, "group", group},
					"scheme %q lists group %q more than once; the first limits are used", scheme, group)
			}
		}
	}
}

// repeats reports elements with a missing id, ids that differ only by case or spaces, and ids with several definitions, of
// which the first is used. If dishes or ingredients differ, all but the first are lost.
func repeats[T any](l *linter, kind string, all []T, read func(*T) (id, name string)) {
	id := func(at Index) string { id, _ := read(&all[at]); return id }
	folded := func(at Index) string { return foldedID(id(at)) }
	ids, similar := newIndex(len(all)), newIndex(len(all))
	var repeated []Index         // the first definitions of these ids
	again := map[Index][]Index{} // their further definitions
	for i := range Index(len(all)) {
		own, name := read(&all[i])
		if own == "" {
			l.add(LintIDMissing, nil, nil, "%s %d (%q) has no id; it is ignored", kind, i+1, name)
			continue
		}
		if first, known := ids.add(own, i, id); known {
			if again[first] = append(again[first], i); len(again[first]) == 1 {
				repeated = append(repeated, first)
			}
			continue
		}
		if other, known := similar.add(folded(i), i, folded); known {
			l.add(LintIDSimilar, l.dishesOf(kind, own), []string{kind, own, "other", id(other)},
				"the id of %s %q differs only by case or spaces from %q", kind, own, id(other))
		}
	}
	for _, at := range repeated {
		code, how := LintDuplicateID, "which are equal"
		if kind == "product" {
			how = "which are equal, except perhaps their categories"
		}
		first, firstName := read(&all[at])
		differ, names := 0, []string(nil) // of the definitions that differ from the first
		made := definition(all[at])
		for _, i := range again[at] {
			if definition(all[i]) == made {
				continue
			}
			if differ++; differ <= 3 {
				_, name := read(&all[i])
				names = append(names, strconv.Quote(name))
			}
		}
		if differ > 0 {
			if kind == "product" || kind == "ingredient" {
				code = LintDuplicateIDDiffers
			}
			if differ > 3 {
				names = append(names, fmt.Sprintf("%d more", differ-3))
			}
			how = fmt.Sprintf("of which %d differ from the first (%q): %s", differ, firstName, strings.Join(names, ", "))
		}
		l.add(code, l.dishesOf(kind, first), []string{kind, first},
			"%s %q has %d definitions, %s; the first is used", kind, first, len(again[at])+1, how)
	}
}

// foldedID returns an id in lower case and without spaces.
func foldedID(id string) string {
	if strings.ContainsFunc(id, unicode.IsSpace) {
		id = strings.Join(strings.Fields(id), "")
	}
	return strings.ToLower(id)
}

// definition returns a text that is equal for equal elements. The categories of a dish are merged, so they do not count.
func definition[T any](one T) string {
	if p, ok := any(&one).(*Product); ok {
		p.CategoryID = ""
	}
	text, _ := json.Marshal(one) // all its values have a text
	return string(text)
}

// categories reports unknown parents, cycles, and dishes in unknown categories.
func (l *linter) categories() {
	kept, ids, parents := parentsOf(l.view.Categories)
	parent := func(c *Category) (string, []string) { return c.ID, optional(c.ParentID) }
	dangling(l.view.Categories, parent, l.cat.categoryByID, func(c *Category, _ string) {
		then := "the reference is ignored"
		if at := ids[c.ID]; parents[at] == None {
			then = "the category is at the root"
		}
		l.add(LintCategoryParentUnknown, l.dishesOf("category", c.ID), []string{"category", c.ID, "parent", c.ParentID},
			"category %q (%s) has the unknown parent %q; %s", c.ID, c.Name, c.ParentID, then)
	})
	for _, cut := range cutCycles(parents) {
		l.add(LintCategoryCycle, l.dishesOf("category", kept[cut].ID), []string{"category", kept[cut].ID, "parent", kept[cut].ParentID},
			"category %q (%s) is among its own parents; it is at the root", kept[cut].ID, kept[cut].Name)
	}
	category := func(p *Product) (string, []string) { return p.ID, optional(p.CategoryID) }
	dangling(l.view.Products, category, l.cat.categoryByID, func(p *Product, _ string) {
		l.add(LintCategoryUnknown, []string{p.ID}, []string{"product", p.ID, "category", p.CategoryID},
			"dish %q (%s) is in the unknown category %q", p.ID, p.Name, p.CategoryID)
	})
}

// dangling visits references to unknown ids, each pair of owner and target once (policies W9, W10).
func dangling[T any](
	all []T, read func(*T) (owner string, targets []string), known func(id string) (Index, bool),
	visit func(owner *T, target string),
) {
	seen := map[[2]string]bool{}
	for i := range all {
		owner, targets := read(&all[i])
		for _, target := range targets {
			if _, ok := known(target); ok || owner == "" || seen[[...]string{owner, target}] {
				continue
			}
			if len(seen) < maxFindings { // further findings are only counted
				seen[[...]string{owner, target}] = true
			}
			visit(&all[i], target)
		}
	}
}

// optional returns the targets of a reference that may be empty.
func optional(target string) []string { return []string{target}[:min(len(target), 1)] }

// references reports references to unknown schemes, groups and ingredients (policy W10), each pair once.
func (l *linter) references() {
	v, c := l.view, l.cat
	for _, k := range l.items {
		scheme := func(p *Product) (string, []string) { return p.ID, optional(p.SchemeID) }
		dangling(k.all, scheme, c.schemeByID, func(p *Product, _ string) {
			then := "the reference is ignored"
			if at, _ := k.table.ByID(p.ID); k.schemes[at] == None {
				then = "it is offered without " + k.nested
			}
			l.add(LintSchemeUnknown, l.dishesOf(k.kind, p.ID), []string{k.kind, p.ID, "scheme", p.SchemeID},
				"%s %q (%s) has the unknown scheme %q; %s", k.noun, p.ID, p.Name, p.SchemeID, then)
		})
	}
	groups := func(s *Scheme) (_ string, ids []string) {
		for _, limit := range s.Groups {
			ids = append(ids, limit.GroupID)
		}
		return s.ID, ids
	}
	dangling(v.Schemes, groups, c.GroupByID, func(s *Scheme, group string) {
		l.add(LintGroupUnknown, l.dishesOf("scheme", s.ID), []string{"scheme", s.ID, "group", group},
			"scheme %q refers to the unknown group %q", s.ID, group)
	})
	dangling(v.Groups, func(g *Group) (string, []string) { return g.ID, g.Ingredients }, c.ingredients.ByID, func(g *Group, id string) {
		l.add(LintIngredientUnknown, l.dishesOf("group", g.ID), []string{"group", g.ID, "ingredient", id},
			"group %q (%s) refers to the unknown ingredient %q", g.ID, g.Name, id)
	})
}

// nesting reports ingredients through which a scheme contains itself, and schemes that are nested
// deeper than the limit.
func (l *linter) nesting() {
	c := l.cat
	state := make([]uint8, len(c.schemes))
	height := make([]int, len(c.schemes)) // levels of the scheme, including itself
	reported := make([]bool, c.ingredients.Len())
	var visit func(s Index)
	visit = func(s Index) {
		state[s] = open
		height[s] = 1
		for _, limit := range c.Limits(s) {
			for _, member := range c.Members(limit.Group) {
				inner := c.ingredientScheme[member]
				switch {
				case inner == None:
					continue
				case state[inner] == open:
					if !reported[member] {
						reported[member] = true
						l.add(LintSchemeCycle, l.touched(s), []string{
							"scheme", c.schemes[inner].ID, "group", c.groups[limit.Group].ID, "ingredient", c.ingredients.At(member).ID(),
						}, "scheme %q contains itself through ingredient %q (%s); the nested scheme is ignored",
							c.schemes[inner].ID, c.ingredients.At(member).ID(), c.ingredients.At(member).Name())
					}
					continue
				case state[inner] == unseen:
					visit(inner)
				}
				height[s] = max(height[s], height[inner]+1)
			}
		}
		state[s] = done
	}
	for s := range Index(len(c.schemes)) {
		if state[s] == unseen {
			visit(s)
		}
		if height[s] > c.settings.MaxDepth && len(l.dishes[s]) > 0 {
			l.add(LintSchemeTooDeep, l.touched(s), []string{"scheme", c.schemes[s].ID},
				"scheme %q nests %d levels deep; at most %d can be ordered", c.schemes[s].ID, height[s], c.settings.MaxDepth)
		}
	}
}

// limits reports inverted limits, and other groups that cannot be satisfied for this restaurant (policies W10, M9).
func (l *linter) limits() {
	c := l.cat
	for s := range Index(len(c.schemes)) {
		inverted := map[Index]bool{}
		for _, limit := range c.Limits(s) {
			if limit.Max == Unlimited || limit.Max >= limit.Min {
				continue
			}
			inverted[limit.Group] = true
			l.add(LintLimitsInverted, l.touched(s), []string{"scheme", c.schemes[s].ID, "group", c.groups[limit.Group].ID},
				"scheme %q requires at least %d and at most %d of group %q (%s)",
				c.schemes[s].ID, limit.Min, limit.Max, c.groups[limit.Group].ID, c.groups[limit.Group].Name)
		}
		for _, g := range c.unsatisfied[s] {
			if !inverted[g] {
				l.add(LintGroupUnsatisfiable, l.touched(s), []string{"scheme", c.schemes[s].ID, "group", c.groups[g].ID},
					"group %q (%s) of scheme %q is required but has no available ingredients; its dishes cannot be ordered",
					c.groups[g].ID, c.groups[g].Name, c.schemes[s].ID)
			}
		}
	}
}

// offers reports zero prices, and missing or shared external ids.
func (l *linter) offers() {
	for _, k := range l.items {
		for i, item := range k.table.All() {
			if k.kind == "product" && !item.PriceInvalid() && item.values().price.Sign() == 0 {
				l.add(LintPriceZero, []string{item.ID()}, []string{"product", item.ID()},
					"dish %q (%s) costs nothing", item.ID(), item.Name())
			}
			if item.ExternalID() == "" {
				l.externalIDMissing(k, item)
			} else {
				l.externalIDTaken(k, i, item)
				l.externalIDShared(k, i, item)
			}
		}
	}
}

// externalIDShared reports an item that is the first of several with its external id (policy O3).
func (l *linter) externalIDShared(k itemKind, i Index, item Entry) {
	owners := k.table.SharingExternalID(i)
	if len(owners) < 2 || owners[0] != i {
		return
	}
	ids := make([]string, len(owners))
	for at, owner := range owners {
		ids[at] = k.table.At(owner).ID()
	}
	products := ids
	if k.kind == "ingredient" {
		products = l.dishesOf(k.kind, ids[0])
	}
	l.add(LintExternalIDShared, products, []string{k.kind, ids[0], "other", ids[1], "externalId", item.ExternalID()},
		"externalId %q is shared by %s", item.ExternalID(), strings.Join(ids, ", "))
}

// externalIDTaken reports an item whose id is the externalId of another item. It has an externalId of its own, so it can
// be ordered, but an order that names it by its id may mean the other item (policy O3).
func (l *linter) externalIDTaken(k itemKind, i Index, item Entry) {
	for _, owner := range k.table.ByExternalID(item.ID()) {
		if owner == i || l.full() {
			continue
		}
		other := k.table.At(owner)
		l.add(LintExternalIDTaken, l.dishesOf(k.kind, item.ID()), []string{k.kind, item.ID(), "other", other.ID()},
			"the id of %s %q (%s) is the externalId of %q (%s): an order that names it so means the other one on the compatible API",
			k.noun, item.ID(), item.Name(), other.ID(), other.Name())
		l.findings[len(l.findings)-1].Severity = SeverityWarning
		return
	}
}

// externalIDMissing reports an item without external id. If its id is the external id of another
// item, an order would select that item (policy O2).
func (l *linter) externalIDMissing(k itemKind, item Entry) {
	id, name := item.ID(), item.Name()
	if others := k.table.ByExternalID(id); len(others) > 0 {
		other := k.table.At(others[0]).ID()
		l.add(LintExternalIDTaken, l.dishesOf(k.kind, id), []string{k.kind, id, "other", other},
			"%s %q (%s) has no externalId and its id is the externalId of %q; it cannot be ordered", k.noun, id, name, other)
		return
	}
	then := "orders name it by its id"
	if l.cat.settings.RefuseMissingExternalID {
		then = "it cannot be ordered (missing_external_id: refuse)"
	}
	l.add(LintExternalIDMissing, l.dishesOf(k.kind, id), []string{k.kind, id},
		"%s %q (%s) has no externalId; %s", k.noun, id, name, then)
}

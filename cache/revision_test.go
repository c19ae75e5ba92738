package cache

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"larder/internal/menu"
	"larder/internal/redistest"
)

// Ids come from small pools, so that they come again, are shared, move and
// vanish.
func drawMenu(t *rapid.T, what string) *menu.Catalogue {
	pick := func(kind string, n int) string {
		return rapid.SampledFrom([]string{"", kind + "0", kind + "1", kind + "2", kind + "3", kind + "4"}[:n+1]).Draw(t, what+kind)
	}
	several := func(list string, one func()) {
		for range rapid.IntRange(0, 5).Draw(t, what+list) {
			one()
		}
	}
	var v menu.View
	several("categories", func() {
		v.Categories = append(v.Categories, menu.Category{ID: pick("c", 3), Name: pick("n", 2)})
	})
	several("ingredients", func() {
		v.Ingredients = append(v.Ingredients, menu.Ingredient{ID: pick("i", 4), Name: pick("n", 2)})
	})
	several("groups", func() {
		g := menu.Group{ID: pick("g", 3), Name: pick("n", 2)}
		several("members", func() { g.Ingredients = append(g.Ingredients, pick("i", 4)) })
		v.Groups = append(v.Groups, g)
	})
	several("schemes", func() {
		s := menu.Scheme{ID: pick("s", 3)}
		several("limits", func() {
			s.Groups = append(s.Groups, menu.GroupLimit{GroupID: pick("g", 3), Min: rapid.IntRange(0, 2).Draw(t, "min"), Max: rapid.IntRange(0, 2).Draw(t, "max")})
		})
		v.Schemes = append(v.Schemes, s)
	})
	several("products", func() {
		v.Products = append(v.Products, menu.Product{
			ID: pick("d", 5), ExternalID: pick("e", 4), Name: pick("n", 2), CategoryID: pick("c", 3), SchemeID: pick("s", 3),
			PriceBad: rapid.Bool().Draw(t, "bad"), Description: pick("t", 1),
		})
	})
	stops := menu.Stops{}
	for _, id := range []string{"d0", "d1", "d2"} {
		if rapid.Bool().Draw(t, "stopped") {
			stops.Products = append(stops.Products, id)
		}
	}
	return menu.CompileContent(&v, menu.DefaultSettings()).Catalogue(stops)
}

// asMap is what a hash holds.
func asMap(fields pairs) map[string]string {
	held := map[string]string{}
	for i := 0; i < len(fields); i += 2 {
		held[fields[i]] = fields[i+1]
	}
	return held
}

// applied is what a hash holds that is made of the one before.
func applied(before pairs, r revision) map[string]string {
	held := asMap(before)
	for _, field := range r.remove {
		delete(held, field)
	}
	maps.Copy(held, asMap(r.write))
	return held
}

func TestWhatDiffersMakesTheWholeHash(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before, after := drawMenu(t, "before"), drawMenu(t, "after")
		if rapid.Bool().Draw(t, "stop lists alone") {
			after = before.Content.Catalogue(after.Stops())
		}
		old, whole := wholeHashes(before), wholeHashes(after)
		for name, c := range map[string]struct{ before, whole, revised revision }{
			"products":    {old.products, whole.products, reviseProducts(before, after)},
			"externalIds": {old.externalIDs, whole.externalIDs, reviseExternalIDs(before, after)},
			"schemes":     {old.schemes, whole.schemes, reviseSchemes(before, after)},
		} {
			if diff := cmp.Diff(asMap(c.whole.write), applied(c.before.write, c.revised)); diff != "" || c.revised.fields != c.whole.fields {
				t.Fatalf("%s: %d fields, want %d; -want +got:\n%s", name, c.revised.fields, c.whole.fields, diff)
			}
		}
	})
}

func TestAnEqualMenuIsOnlyCopied(t *testing.T) {
	t.Parallel()
	p := generated(t, 0, 100, 1)
	s := NewStore(openForTest(t, redistest.Start(t).URL()), StoreConfig{})
	one := s.heirs("of", p.Catalogue, generated(t, 0, 100, 1).Catalogue)
	for name, r := range map[string]revision{"products": one.products, "externalIds": one.externalIDs, "schemes": one.schemes} {
		if len(r.write) > 0 || len(r.remove) > 0 || r.of == "" {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// documentedHashes are those of a version as other programs read them.
func documentedHashes(t *testing.T, r *Redis, v Version) [3]map[string]string {
	t.Helper()
	k := r.Keys()
	index, err := r.Client().HGet(t.Context(), k.Current(v.Restaurant), "index").Result()
	if err != nil {
		t.Fatal(err)
	}
	var all [3]map[string]string
	for i, key := range []string{k.Products(index), k.ExternalIDs(index), k.Schemes(index)} {
		if all[i], err = r.Client().HGetAll(t.Context(), key).Result(); err != nil {
			t.Fatal(err)
		}
		if life := r.Client().TTL(t.Context(), key).Val(); len(all[i]) > 0 && life >= 0 {
			t.Errorf("version %d: %s expires in %s", v.Version, key, life)
		}
	}
	return all
}

func TestVersionsOfWhichLittleDiffers(t *testing.T) {
	t.Parallel()
	OnEveryForm(t, func(t *testing.T, r *Redis) {
		s := NewStore(r, StoreConfig{})
		var before *menu.Catalogue
		base := int64(0)
		for step, c := range []struct {
			what    string
			dishes  int
			meddles func(index string)
		}{
			{what: "the first"},
			{what: "a price"},
			{what: "more dishes", dishes: 9},
			{what: "fewer dishes", dishes: -20},
			{what: "a hash is lost", meddles: func(index string) { r.Client().Del(t.Context(), r.Keys().Products(index)) }},
			{what: "all hashes are lost", meddles: func(index string) {
				for _, key := range []string{r.Keys().Products(index), r.Keys().ExternalIDs(index), r.Keys().Schemes(index)} {
					r.Client().Del(t.Context(), key)
				}
			}},
			{what: "a field is lost", meddles: func(index string) {
				r.Client().HDel(t.Context(), r.Keys().Schemes(index), "s1")
			}},
			{what: "a price again"},
		} {
			if c.meddles != nil {
				c.meddles(s.keys.Version("bistro", base))
			}
			p := changed(t, base, 200+c.dishes, step)
			p.Before = before
			v, err := s.Publish(t.Context(), p)
			if err != nil {
				t.Fatalf("%s: %v", c.what, err)
			}
			got, whole := documentedHashes(t, r, v), wholeHashes(p.Catalogue)
			want := [3]map[string]string{asMap(whole.products.write), asMap(whole.externalIDs.write), asMap(whole.schemes.write)}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s: -want +got:\n%s", c.what, diff)
			}
			before, base = p.Catalogue, v.Version
		}
	})
}

// What somebody has damaged in a hash is not handed on for ever.
func TestHashesAreWholeNowAndThen(t *testing.T) {
	t.Parallel()
	r := openForTest(t, redistest.Start(t).URL())
	s := NewStore(r, StoreConfig{})
	var before *menu.Catalogue
	healed := false
	for base := range int64(wholeEvery) {
		next := changed(t, base, 100, int(base))
		next.Restaurant, next.Before = "whole", before
		v, err := s.Publish(t.Context(), next)
		if err != nil {
			t.Fatal(err)
		}
		before = next.Catalogue
		key := s.keys.Schemes(s.keys.Version("whole", v.Version))
		if base == 0 {
			r.Client().HSet(t.Context(), key, "s1", "damaged")
			continue
		}
		healed = r.Client().HGet(t.Context(), key, "s1").Val() != "damaged"
	}
	if !healed {
		t.Errorf("damaged after %d versions", wholeEvery)
	}
}

// changed is a generated menu of which the step decides one price.
func changed(t *testing.T, base int64, dishes, step int) Publication {
	t.Helper()
	return generatedWith(t, base, dishes, func(dish int) int {
		if dish == 7 {
			return step
		}
		return 1
	})
}

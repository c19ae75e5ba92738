package cache

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/topology"
)

// The documented hashes of a current version are complete, whatever happened to the
// hashes of the previous version.
func TestEveryVersionHasItsDocumentedHashes(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s := NewStore(r, StoreConfig{})
		base := int64(0)
		for step, c := range []struct {
			what    string
			dishes  int
			meddles func(index string)
		}{
			{what: "the first", dishes: 200},
			{what: "a price", dishes: 200},
			{what: "more dishes", dishes: 209},
			{what: "fewer dishes", dishes: 180},
			{what: "a hash is lost", dishes: 200, meddles: func(index string) { r.Client().Del(t.Context(), NewKeys(r.Prefix()).Products(index)) }},
			{what: "all hashes are lost", dishes: 200, meddles: func(index string) {
				for _, key := range []string{NewKeys(r.Prefix()).Products(index), NewKeys(r.Prefix()).ExternalIDs(index), NewKeys(r.Prefix()).Schemes(index)} {
					r.Client().Del(t.Context(), key)
				}
			}},
			{what: "a field is lost", dishes: 200, meddles: func(index string) {
				r.Client().HDel(t.Context(), NewKeys(r.Prefix()).Schemes(index), "s1")
			}},
			{what: "a field is damaged", dishes: 200, meddles: func(index string) {
				r.Client().HSet(t.Context(), NewKeys(r.Prefix()).Schemes(index), "s1", "damaged")
			}},
			{what: "an earlier price", dishes: 200},
		} {
			if c.meddles != nil {
				c.meddles(s.keys.Version("bistro", base))
			}
			p := generatedWith(t, base, c.dishes, func(dish int) int {
				if dish == 7 {
					return step
				}
				return 1
			})
			v, err := s.Publish(t.Context(), p)
			if err != nil {
				t.Fatalf("%s: %v", c.what, err)
			}
			index, err := r.Client().HGet(t.Context(), NewKeys(r.Prefix()).Current("bistro"), "index").Result()
			if err != nil {
				t.Fatal(err)
			}
			for _, hash := range documentedHashes(NewKeys(r.Prefix()), index, p.Catalogue, false) {
				want := map[string]string{}
				for i := 0; i < len(hash.fields); i += 2 {
					want[hash.fields[i]] = hash.fields[i+1]
				}
				got, err := r.Client().HGetAll(t.Context(), hash.key).Result()
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
					t.Errorf("%s: %s: -want +got:\n%s", c.what, hash.key, diff)
				}
				if life := r.Client().TTL(t.Context(), hash.key).Val(); life >= 0 {
					t.Errorf("%s: the TTL of %s is %s", c.what, hash.key, life)
				}
			}
			base = v.Version
		}
	})
}

package cache

import (
	"slices"
	"strconv"

	"larder.local/internal/jsontext"
	"larder.local/internal/menu"
)

// documentedHash is one of the hashes that other programs may read.
type documentedHash struct {
	key    string
	fields []string // field, value, field, value, and so on
}

// documentedHashes returns the documented hashes of a catalogue. index is the prefix of
// their Redis keys. shared means that several restaurants use them (see productIndex).
func documentedHashes(k Keys, index string, c *menu.Catalogue, shared bool) []documentedHash {
	return []documentedHash{
		{k.Products(index), productIndex(c, shared)},
		{k.ExternalIDs(index), externalIDIndex(c)},
		{k.Schemes(index), schemeIndex(c)},
	}
}

// productIndex returns the documented hash products. It maps a dish id to {externalId, name, price, schemeId, categoryId,
// categoryIds, available}. If shared is true, it omits available, which differs between the restaurants that use the hash.
func productIndex(c *menu.Catalogue, shared bool) []string {
	fields := make([]string, 0, 2*c.Products().Len())
	var scratch []byte
	for at, p := range c.Products().All() {
		scratch = appendProduct(scratch[:0], c, at, shared)
		fields = append(fields, p.ID(), string(scratch))
	}
	return fields
}

func appendProduct(b []byte, c *menu.Catalogue, at menu.Index, shared bool) []byte {
	p := c.Products().At(at)
	b = jsontext.AppendStringOrNull(append(b, `{"externalId":`...), p.ExternalID())
	b = jsontext.AppendString(append(b, `,"name":`...), p.Name())
	b = append(b, `,"price":`...)
	if p.PriceInvalid() {
		b = append(b, "null"...)
	} else {
		b = jsontext.NumberOf(p.Price()).Append(b)
	}
	b = jsontext.AppendStringOrNull(append(b, `,"schemeId":`...), c.SchemeID(c.ProductScheme(at)))
	b = jsontext.AppendStringOrNull(append(b, `,"categoryId":`...), c.CategoryID(at))
	b = c.AppendCategoryIDs(append(b, `,"categoryIds":`...), at)
	if !shared {
		b = strconv.AppendBool(append(b, `,"available":`...), c.Available(at))
	}
	return append(b, '}')
}

// externalIDIndex returns the documented hash externalIds. It maps an externalId to the
// JSON array of the ids of its dishes, in the sequence of the menu view (policy O3).
func externalIDIndex(c *menu.Catalogue) []string {
	fields := make([]string, 0, 2*c.Products().Len())
	var scratch []byte
	for at, p := range c.Products().All() {
		owners := c.Products().SharingExternalID(at)
		if len(owners) == 0 || owners[0] != at {
			continue // the dish has no externalId, or an earlier dish has added the field
		}
		scratch = append(scratch[:0], '[')
		for k, owner := range owners {
			scratch = jsontext.AppendString(jsontext.AppendComma(scratch, k), c.Products().At(owner).ID())
		}
		fields = append(fields, p.ExternalID(), string(append(scratch, ']')))
	}
	return fields
}

// schemeIndex returns the documented hash schemes. It maps a scheme id to a JSON array with one {group, name, min, max,
// options} for each group, in the sequence of the scheme. The limits are those of policy M2.
func schemeIndex(c *menu.Catalogue) []string {
	schemes := c.Schemes()
	fields := make([]string, 0, 2*len(schemes))
	var scratch []byte
	for i := range schemes {
		scratch = appendScheme(scratch[:0], c, menu.Index(i))
		fields = append(fields, schemes[i].ID, string(scratch))
	}
	return fields
}

func appendScheme(b []byte, c *menu.Catalogue, at menu.Index) []byte {
	b = append(b, '[')
	for k, limit := range c.Limits(at) {
		b = jsontext.AppendString(append(jsontext.AppendComma(b, k), `{"group":`...), c.Groups()[limit.Group].ID)
		b = append(c.AppendLimit(b, limit), `,"options":`...)
		b = append(c.AppendOptionIDs(b, limit.Group), '}')
	}
	return append(b, ']')
}

// stoppedIndex returns the documented set stopped: ids of dishes and ingredients, each once.
func stoppedIndex(stops menu.Stops) []string {
	ids := slices.Concat(stops.Products, stops.Ingredients)
	slices.Sort(ids)
	return slices.Compact(ids)
}

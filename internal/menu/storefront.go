package menu

import (
	"slices"
	"strconv"
	"time"

	"larder.local/internal/jsontext"
)

// Head contains the data of a storefront's menu other than the catalogue.
type Head struct {
	Restaurant     RestaurantID
	RestaurantName string
	Version        int64
	SyncedAt       time.Time // when the content last changed
}

// TimeFormat is the format of all times in larder's JSON: RFC 3339, UTC, milliseconds.
const TimeFormat = "2006-01-02T15:04:05.000Z"

// FormatTime returns t in TimeFormat.
func FormatTime(t time.Time) string { return string(AppendTime(nil, t)) }

// AppendTime appends t in TimeFormat.
func AppendTime(dst []byte, t time.Time) []byte { return t.UTC().AppendFormat(dst, TimeFormat) }

// TimeOrNull returns t in TimeFormat, or nil for the zero time.
func TimeOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return new(FormatTime(t))
}

// maxFormOptions limits the options and groups of one dish's form, because nested schemes could
// make the response extremely long.
const maxFormOptions = 20_000

// optionBytes is how long an option may be to count once. A longer one counts several times.
const optionBytes = 1_000

// AppendMenu appends the storefront's menu in normalised form: each scheme and ingredient once. The
// bytes depend only on the catalogue and h.
func (c *Catalogue) AppendMenu(dst []byte, h Head) []byte {
	dst = append(dst, `{"result":{"restaurant":{"id":`...)
	dst = jsontext.AppendString(dst, string(h.Restaurant))
	dst = jsontext.AppendString(append(dst, `,"name":`...), h.RestaurantName)
	dst = jsontext.AppendString(append(dst, `},"name":`...), c.name)
	dst = strconv.AppendInt(append(dst, `,"version":`...), h.Version, 10)
	dst = append(dst, `,"syncedAt":"`...)
	dst = AppendTime(dst, h.SyncedAt)
	dst = append(dst, `","categories":[`...)
	for i := range c.categories {
		dst = jsontext.AppendComma(dst, i)
		dst = jsontext.AppendString(append(dst, `{"id":`...), c.categories[i].ID)
		dst = jsontext.AppendString(append(dst, `,"name":`...), c.categories[i].Name)
		dst = jsontext.AppendStringOrNull(append(dst, `,"parentId":`...), c.categories[i].ParentID)
		dst = append(dst, '}')
	}
	dst = append(dst, `],"products":[`...)
	for p := range c.products.Len() {
		dst = c.AppendProductEntry(jsontext.AppendComma(dst, p), Index(p))
	}
	dst = append(dst, `],"schemes":[`...)
	for s := range c.schemes {
		dst = jsontext.AppendString(append(jsontext.AppendComma(dst, s), `{"id":`...), c.schemes[s].ID)
		dst = append(dst, `,"groups":[`...)
		for i, limit := range c.Limits(Index(s)) {
			dst = c.appendGroup(jsontext.AppendComma(dst, i), limit)
			dst = append(c.AppendOptionIDs(append(dst, `,"options":`...), limit.Group), '}')
		}
		dst = append(dst, ']', '}')
	}
	dst = append(dst, `],"ingredients":[`...)
	for i := range c.ingredients.Len() {
		dst = c.appendIngredient(jsontext.AppendComma(dst, i), Index(i))
		dst = append(dst, '}')
	}
	return append(dst, ']', '}', '}')
}

// AppendProductEntry appends dish p as it appears in the menu and in lists.
func (c *Catalogue) AppendProductEntry(dst []byte, p Index) []byte {
	return append(c.appendDish(append(dst, '{'), p), '}')
}

func (c *Catalogue) appendDish(dst []byte, i Index) []byte {
	p := c.products.At(i).values()
	dst = jsontext.AppendString(append(dst, `"id":`...), p.id)
	dst = jsontext.AppendStringOrNull(append(dst, `,"externalId":`...), p.externalID)
	dst = jsontext.AppendStringOrNull(append(dst, `,"categoryId":`...), c.CategoryID(i))
	dst = c.AppendCategoryIDs(append(dst, `,"categoryIds":`...), i)
	dst = jsontext.AppendString(append(dst, `,"name":`...), p.name)
	dst = jsontext.AppendString(append(dst, `,"description":`...), p.description)
	dst = p.appendPrice(append(dst, `,"price":`...))
	dst = p.appendMeasure(append(dst, `,"measure":`...))
	dst = p.appendImages(append(dst, `,"imageUrls":`...))
	dst = p.appendNutrition(append(dst, `,"nutrition":`...))
	dst = jsontext.AppendStringOrNull(append(dst, `,"schemeId":`...), c.SchemeID(c.productScheme[i]))
	dst = strconv.AppendBool(append(dst, `,"available":`...), c.Available(i))
	return appendOrderable(dst, c.Orderable(i), c.Reasons(i))
}

func appendOrderable(dst []byte, orderable bool, reasons []Reason) []byte {
	dst = strconv.AppendBool(append(dst, `,"orderable":`...), orderable)
	dst = append(dst, `,"reasons":[`...)
	for k, reason := range reasons {
		dst = jsontext.AppendString(append(jsontext.AppendComma(dst, k), `{"code":`...), string(reason.Code))
		if reason.Group != "" {
			dst = jsontext.AppendString(append(dst, `,"group":`...), reason.Group)
		}
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// AppendCategoryIDs appends the ids of the dish's categories as a JSON array (policy W9).
func (c *Content) AppendCategoryIDs(dst []byte, p Index) []byte {
	dst = append(dst, '[')
	for k, in := range c.CategoriesOf(p) {
		dst = jsontext.AppendString(jsontext.AppendComma(dst, k), c.categories[in].ID)
	}
	return append(dst, ']')
}

// AppendOptionIDs appends the ids of the group's ingredients as a JSON array.
func (c *Content) AppendOptionIDs(dst []byte, g Index) []byte {
	dst = append(dst, '[')
	for k, member := range c.Members(g) {
		dst = jsontext.AppendString(jsontext.AppendComma(dst, k), c.ingredients.At(member).ID())
	}
	return append(dst, ']')
}

// appendPrice appends the price, or null if it is invalid (policy W9a).
func (v *values) appendPrice(dst []byte) []byte {
	if v.PriceInvalid() {
		return append(dst, "null"...)
	}
	return v.price.Append(dst)
}

func (v *values) appendMeasure(dst []byte) []byte {
	if !v.hasMeasure {
		return append(dst, "null"...)
	}
	dst = v.measure.Append(append(dst, `{"value":`...))
	return append(jsontext.AppendStringOrNull(append(dst, `,"unit":`...), v.unit), '}')
}

func (v *values) appendImages(dst []byte) []byte {
	dst = append(dst, '[')
	r := v.images
	for i := range v.imageCount {
		dst = jsontext.AppendString(jsontext.AppendComma(dst, i), r.text())
	}
	return append(dst, ']')
}

func (v *values) appendNutrition(dst []byte) []byte {
	if !v.nutritious {
		return append(dst, "null"...)
	}
	r := v.nutrition
	for _, name := range [...]string{`{"calories":`, `,"energyValue":`, `,"proteins":`, `,"fats":`, `,"carbohydrates":`} {
		dst = append(dst, name...)
		if value, ok := r.number(); ok {
			dst = value.Append(dst)
		} else {
			dst = append(dst, "null"...)
		}
	}
	return append(dst, '}')
}

// appendGroup appends a group with its limits, without the closing bracket.
func (c *Catalogue) appendGroup(dst []byte, limit Limit) []byte {
	return c.AppendLimit(jsontext.AppendString(append(dst, `{"id":`...), c.groups[limit.Group].ID), limit)
}

// AppendLimit appends the members name, min and max of a group in a scheme, after another member.
func (c *Content) AppendLimit(dst []byte, limit Limit) []byte {
	dst = jsontext.AppendString(append(dst, `,"name":`...), c.groups[limit.Group].Name)
	dst = strconv.AppendInt(append(dst, `,"min":`...), int64(limit.Min), 10)
	dst = append(dst, `,"max":`...)
	if limit.Max == Unlimited {
		return append(dst, "null"...)
	}
	return strconv.AppendInt(dst, int64(limit.Max), 10)
}

// appendIngredient appends an ingredient, without the closing bracket.
func (c *Catalogue) appendIngredient(dst []byte, i Index) []byte {
	in := c.ingredients.At(i).values()
	dst = jsontext.AppendString(append(dst, `{"id":`...), in.id)
	dst = jsontext.AppendStringOrNull(append(dst, `,"externalId":`...), in.externalID)
	dst = jsontext.AppendString(append(dst, `,"name":`...), in.name)
	dst = in.appendPrice(append(dst, `,"price":`...))
	dst = jsontext.AppendString(append(dst, `,"description":`...), in.description)
	dst = in.appendImages(append(dst, `,"imageUrls":`...))
	dst = in.appendMeasure(append(dst, `,"measure":`...))
	dst = jsontext.AppendStringOrNull(append(dst, `,"schemeId":`...), c.SchemeID(c.ingredientScheme[i]))
	dst = strconv.AppendBool(append(dst, `,"available":`...), !c.ingredientStopped.has(i))
	return appendOrderable(dst, c.IngredientOrderable(i), c.IngredientReasons(i))
}

// AppendProduct appends one resolved dish: everything that an order form needs, including nested
// groups down to the depth limit and to where a scheme would contain itself (policy M5). A form
// with more than 20,000 options and groups is cut there and has "truncated": true.
func (c *Catalogue) AppendProduct(dst []byte, p Index, version int64) []byte {
	dst = strconv.AppendInt(append(dst, `{"result":{"version":`...), version, 10)
	dst, _ = c.appendForm(append(dst, ','), p, maxFormOptions)
	return append(dst, '}')
}

// AppendProductForm appends a dish as AppendProduct does, without version. It writes at most left options and groups,
// and returns how many it could still write, or -1 if it left some out.
func (c *Catalogue) AppendProductForm(dst []byte, p Index, left int) ([]byte, int) {
	return c.appendForm(append(dst, '{'), p, left)
}

func (c *Catalogue) appendForm(dst []byte, p Index, left int) ([]byte, int) {
	f := dishForm{c: c, left: left}
	dst = f.groups(c.appendDish(dst, p), c.productScheme[p])
	if f.cut {
		return append(dst, `,"truncated":true}`...), -1
	}
	return append(dst, '}'), max(0, f.left)
}

// dishForm is the state of writing one dish: the schemes above, and the remaining options and groups.
type dishForm struct {
	c    *Catalogue
	path []Index
	left int
	cut  bool // some are left out
}

func (f *dishForm) groups(dst []byte, s Index) []byte {
	dst = append(dst, `,"groups":[`...)
	if s == None || len(f.path) >= f.c.settings.MaxDepth || slices.Contains(f.path, s) {
		return append(dst, ']')
	}
	f.path = append(f.path, s)
	for i, limit := range f.c.Limits(s) {
		if f.left <= 0 {
			f.cut = true
			break
		}
		f.left--
		dst = f.c.appendGroup(jsontext.AppendComma(dst, i), limit)
		dst = append(dst, `,"options":[`...)
		for k, member := range f.c.Members(limit.Group) {
			if f.left <= 0 {
				f.cut = true
				break
			}
			before := len(dst)
			dst = f.c.appendIngredient(jsontext.AppendComma(dst, k), member)
			f.left -= 1 + (len(dst)-before)/optionBytes
			dst = f.groups(dst, f.c.ingredientScheme[member])
			dst = append(dst, '}')
		}
		dst = append(dst, ']', '}')
	}
	f.path = f.path[:len(f.path)-1]
	return append(dst, ']')
}

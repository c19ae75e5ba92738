package menu_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"larder.local/internal/menu"
)

// dish returns a menu with one dish p, a category, a group and an ingredient; extra is of the dish.
func menuWith(dish, category, group, ingredient string) string {
	return `{"categories":[{"id":"c",` + category + `}],"products":[{"id":"p","externalId":"xp","categoryId":"c","price":1,"schemeId":"s",` + dish + `}],
		"ingredientsSchemes":[{"id":"s","ingredientsGroups":[{"id":"g"}]}],"ingredientsGroups":[{"id":"g","ingredients":["i"],` + group + `}],
		"ingredients":[{"id":"i","externalId":"xi","price":0,` + ingredient + `}]}`
}

// Lint reports texts that people cannot read, and image addresses that browsers cannot load.
func TestLintReportsTexts(t *testing.T) {
	t.Parallel()
	const ok = `"name":"N"`
	for name, c := range map[string]struct{ body, want string }{
		"nothing":                    {menuWith(ok+`,"description":"a\tb\r\nc","imageUrls":["https://img.example/a.png","HTTP://h/a b.png"]`, ok, ok, ok), ""},
		"an empty name":              {menuWith(`"name":""`, ok, ok, ok), "name_empty products[].name"},
		"a null name":                {menuWith(`"name":null`, ok, ok, ok), "name_empty products[].name"},
		"no name":                    {menuWith(`"description":"d"`, ok, ok, ok), "name_empty products[].name"},
		"a name of spaces":           {menuWith(`"name":" \u00a0\u200b"`, ok, ok, ok), "name_empty products[].name"},
		"of a category":              {menuWith(ok, `"name":""`, ok, ok), "name_empty categories[].name"},
		"of a group":                 {menuWith(ok, ok, `"name":""`, ok), "name_empty ingredientsGroups[].name"},
		"of an ingredient":           {menuWith(ok, ok, ok, `"name":""`), "name_empty ingredients[].name"},
		"a long name":                {menuWith(`"name":"`+strings.Repeat("n", 2_001)+`"`, ok, ok, ok), "text_too_long products[].name"},
		"a long description":         {menuWith(ok+`,"description":"`+strings.Repeat("d", 20_001)+`"`, ok, ok, ok), "text_too_long products[].description"},
		"long enough":                {menuWith(`"name":"`+strings.Repeat("n", 2_000)+`","description":"`+strings.Repeat("d", 20_000)+`"`, ok, ok, ok), ""},
		"replacement characters":     {menuWith(`"name":"\ufffd\ufffd"`, ok, ok, ok), "replacement_character products[].name"},
		"bytes that are not UTF-8":   {menuWith("\"name\":\"\xcf\xee\"", ok, ok, ok), "replacement_character products[].name"},
		"a replaced description":     {menuWith(ok+`,"description":"caf\ufffd"`, ok, ok, ok), "replacement_character products[].description"},
		"a replaced option":          {menuWith(ok, ok, ok, `"name":"caf\ufffd"`), "replacement_character ingredients[].name"},
		"NUL":                        {menuWith(`"name":"a\u0000"`, ok, ok, ok), "control_character products[].name"},
		"a tab":                      {menuWith(`"name":"a\tb"`, ok, ok, ok), "control_character products[].name"},
		"a line break":               {menuWith(ok, `"name":"a\nb"`, ok, ok), "control_character categories[].name"},
		"DEL":                        {menuWith(ok, ok, `"name":"a\u007f"`, ok), "control_character ingredientsGroups[].name"},
		"a C1 character":             {menuWith(ok, ok, ok, `"name":"a\u0085"`), "control_character ingredients[].name"},
		"NUL in a description":       {menuWith(ok+`,"description":"\u0000"`, ok, ok, ok), "control_character products[].description"},
		"a direction override":       {menuWith(`"name":"\u202eabc"`, ok, ok, ok), "control_character products[].name"},
		"a direction isolate":        {menuWith(`"name":"a\u2066b"`, ok, ok, ok), "control_character products[].name"},
		"a direction mark":           {menuWith(`"name":"a\u200fb"`, ok, ok, ok), "control_character products[].name"},
		"in an externalId":           {strings.Replace(menuWith(ok, ok, ok, ok), `"xp"`, `"x\tp"`, 1), "control_character products[].externalId"},
		"a unit":                     {menuWith(ok+`,"measure":{"value":1,"unit":"k\tg"}`, ok, ok, ok), "control_character products[].measure.unit"},
		"a relative image":           {menuWith(ok+`,"imageUrls":["photos/1.jpg"]`, ok, ok, ok), "image_address products[].imageUrls[]"},
		"an absolute path":           {menuWith(ok+`,"imageUrls":["/photos/1.jpg"]`, ok, ok, ok), "image_address products[].imageUrls[]"},
		"an image without a scheme":  {menuWith(ok+`,"imageUrls":["//cdn.example/1.jpg"]`, ok, ok, ok), "image_address products[].imageUrls[]"},
		"a backslash":                {menuWith(ok+`,"imageUrls":["media\\\\a.png"]`, ok, ok, ok), "image_address products[].imageUrls[]"},
		"a backslash in http":        {menuWith(ok+`,"imageUrls":["https:\\\\h\\a.png"]`, ok, ok, ok), "image_address products[].imageUrls[]"},
		"a backslash in the path":    {menuWith(ok+`,"imageUrls":["https://h/a\\b.png"]`, ok, ok, ok), "image_address products[].imageUrls[]"},
		"a script":                   {menuWith(ok+`,"imageUrls":["javascript:alert(1)"]`, ok, ok, ok), "image_address products[].imageUrls[]"},
		"data":                       {menuWith(ok+`,"imageUrls":["data:image/png;base64,AA"]`, ok, ok, ok), "image_address products[].imageUrls[]"},
		"credentials":                {menuWith(ok+`,"imageUrls":["https://a:b@h/1.png"]`, ok, ok, ok), "image_address products[].imageUrls[]"},
		"no host":                    {menuWith(ok+`,"imageUrls":["https:///1.png"]`, ok, ok, ok), "image_address products[].imageUrls[]"},
		"an image of an ingredient":  {menuWith(ok, ok, ok, ok+`,"imageUrls":["i.png"]`), "image_address ingredients[].imageUrls[]"},
		"one address, not in a list": {menuWith(ok+`,"imageUrls":"a.png"`, ok, ok, ok), "image_address products[].imageUrls[]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, f := range findingsOf(t, c.body, menu.IssueNameEmpty, menu.IssueReplacement, menu.IssueControlCharacter, menu.IssueImageAddress, menu.IssueTextTooLong) {
				got = append(got, f.Code+" "+f.IDs["field"])
				if f.Severity != menu.SeverityWarning || (strings.Join(f.Products, " ") != "p") != (f.IDs["field"] == "ingredients[].imageUrls[]") {
					t.Errorf("finding %+v, want a warning of p", f)
				}
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("findings %q, want %q", got, c.want)
			}
		})
	}
}

// Lint reports how many definitions an id has and whether they differ. If dishes or ingredients are lost, it is an error.
func TestLintCountsDefinitions(t *testing.T) {
	t.Parallel()
	tea := func(i int) string { return fmt.Sprintf(`{"id":"-10000","name":"Tea %d","price":%[1]d}`, i) }
	var sizes []string
	for i := range 101 {
		sizes = append(sizes, tea(i))
	}
	const twin = `{"id":"a","externalId":"1","name":"A","price":1.50,"categoryId":"c"}`
	for name, c := range map[string]struct {
		body, code string
		parts      []string
	}{
		"a hundred dishes":         {`{"products":[` + strings.Join(sizes, ",") + `]}`, menu.LintDuplicateIDDiffers, []string{`"-10000"`, "101 definitions", "100 differ", `"Tea 0"`, `"Tea 1"`, "97 more"}},
		"other names":              {`{"products":[` + twin + `,` + strings.Replace(twin, `"A"`, `"B"`, 1) + `]}`, menu.LintDuplicateIDDiffers, []string{"2 definitions", "1 differ", `"B"`}},
		"other prices":             {`{"products":[` + twin + `,` + strings.Replace(twin, `1.50`, `2`, 1) + `]}`, menu.LintDuplicateIDDiffers, []string{"1 differ"}},
		"no price":                 {`{"products":[` + twin + `,` + strings.Replace(twin, `1.50`, `null`, 1) + `]}`, menu.LintDuplicateIDDiffers, []string{"1 differ"}},
		"other POS ids":            {`{"products":[` + twin + `,` + strings.Replace(twin, `"1"`, `"2"`, 1) + `]}`, menu.LintDuplicateIDDiffers, []string{"1 differ"}},
		"other schemes":            {`{"products":[` + twin + `,` + strings.Replace(twin, `"id"`, `"schemeId":"s","id"`, 1) + `]}`, menu.LintDuplicateIDDiffers, []string{"1 differ"}},
		"another measure":          {`{"products":[` + twin + `,` + strings.Replace(twin, `"id"`, `"measure":{"value":0.5,"unit":"liter"},"id"`, 1) + `]}`, menu.LintDuplicateIDDiffers, []string{"1 differ"}},
		"equal measures":           {strings.ReplaceAll(`{"products":[`+twin+`,`+strings.Replace(twin, `"name"`, `"measure":{"value":0.50,"unit":"liter"},"name"`, 1)+`]}`, `{"id":"a","externalId":"1","name"`, `{"id":"a","externalId":"1","measure":{"value":0.5,"unit":"liter"},"name"`), menu.LintDuplicateID, []string{"equal"}},
		"another description":      {`{"products":[` + twin + `,` + strings.Replace(twin, `"id"`, `"description":"d","id"`, 1) + `]}`, menu.LintDuplicateIDDiffers, []string{"1 differ"}},
		"other images":             {`{"products":[` + twin + `,` + strings.Replace(twin, `"id"`, `"imageUrls":["https://h/a.png"],"id"`, 1) + `]}`, menu.LintDuplicateIDDiffers, []string{"1 differ"}},
		"another stop list":        {`{"products":[` + twin + `,` + strings.Replace(twin, `"id"`, `"isContainInStopList":["r"],"id"`, 1) + `]}`, menu.LintDuplicateIDDiffers, []string{"1 differ"}},
		"other nutrition":          {`{"products":[` + twin + `,` + strings.Replace(twin, `"id"`, `"calories":1,"id"`, 1) + `]}`, menu.LintDuplicateIDDiffers, []string{"1 differ"}},
		"ingredients":              {`{"ingredients":[` + twin + `,` + strings.Replace(twin, `1.50`, `2`, 1) + `]}`, menu.LintDuplicateIDDiffers, []string{"1 differ"}},
		"equal dishes":             {`{"products":[` + twin + `,` + strings.Replace(twin, `1.50`, `1.5`, 1) + `,` + twin + `]}`, menu.LintDuplicateID, []string{"3 definitions", "equal"}},
		"another category (W9)":    {`{"products":[` + twin + `,` + strings.Replace(twin, `"c"`, `"d"`, 1) + `]}`, menu.LintDuplicateID, []string{"2 definitions", "equal"}},
		"categories that differ":   {`{"categories":[{"id":"c","name":"C"},{"id":"c","name":"D"}]}`, menu.LintDuplicateID, []string{"2 definitions", "1 differ", `"D"`}},
		"groups that are merged":   {`{"ingredientsGroups":[{"id":"g","name":"G","ingredients":["i"]},{"id":"g","name":"G","ingredients":["k"]}]}`, menu.LintDuplicateID, []string{"2 definitions", "1 differ"}},
		"groups that are equal":    {`{"ingredientsGroups":[{"id":"g","name":"G","ingredients":["i"]},{"id":"g","name":"G","ingredients":["i"]}]}`, menu.LintDuplicateID, []string{"equal"}},
		"schemes that are merged":  {`{"ingredientsSchemes":[{"id":"s"},{"id":"s","ingredientsGroups":[{"id":"g"}]}]}`, menu.LintDuplicateID, []string{"1 differ"}},
		"schemes that are equal":   {`{"ingredientsSchemes":[{"id":"s","ingredientsGroups":[{"id":"g"}]},{"id":"s","ingredientsGroups":[{"id":"g"}]}]}`, menu.LintDuplicateID, []string{"equal"}},
		"an id that is not a text": {`{"products":[{"id":1,"name":"A","price":1},{"id":1,"name":"B","price":1}]}`, menu.LintDuplicateIDDiffers, []string{"1 differ"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := findingsOf(t, c.body, menu.LintDuplicateID, menu.LintDuplicateIDDiffers)
			if len(found) != 1 || found[0].Code != c.code {
				t.Fatalf("findings %+v, want one %s", found, c.code)
			}
			for _, part := range c.parts {
				if !strings.Contains(found[0].Msg, part) {
					t.Errorf("the message %q does not contain %s", found[0].Msg, part)
				}
			}
		})
	}
}

func TestLintReportsSimilarIDs(t *testing.T) {
	t.Parallel()
	for _, list := range []string{"categories", "products", "ingredientsSchemes", "ingredientsGroups", "ingredients"} {
		element := func(id string) string { return `{"name":"N","price":1,"id":` + strconv.Quote(id) + `}` }
		for _, c := range []struct {
			one, two string
			similar  bool
		}{{"A", "a", true}, {"a", " a", true}, {"a b", "ab", true}, {"ab ", "A\u00a0b", true}, {"Ж1", "ж1", true}, {"a", "b", false}, {"a", "a", false}, {"a-b", "ab", false}} {
			found := findingsOf(t, `{"`+list+`":[`+element(c.one)+`,`+element("other")+`,`+element(c.two)+`]}`, menu.LintIDSimilar)
			if len(found) == 1 != c.similar || len(found) > 1 {
				t.Errorf("%s %q and %q: findings %+v", list, c.one, c.two, found)
			}
			if len(found) == 1 && (found[0].IDs["other"] != c.one || found[0].Severity != menu.SeverityWarning) {
				t.Errorf("%s: finding %+v", list, found[0])
			}
		}
	}
}

// An option of a weighed dish costs by weight, and the service gets it once (decision 0074).
func TestLintReportsOptionsByWeight(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		unit, price, scheme string
		reported            bool
	}{
		"a price":                     {"kg", "1", "s", true},
		"a discount":                  {"Liter", "-1", "s", true},
		"free":                        {"kg", "0", "s", false},
		"no valid price":              {"kg", "null", "s", false},
		"by the piece":                {"pcs", "1", "s", false},
		"a portion":                   {"kg", "1", "s", false},
		"without options":             {"kg", "1", "none", false},
		"an option of an option":      {"kg", "1", "outer", true},
		"a free option of an option":  {"kg", "0", "outer", false},
		"only below the other scheme": {"kg", "1", "other", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			value := "1.0"
			if name == "a portion" {
				value = "0.3"
			}
			found := findingsOf(t, `{"products":[{"id":"p","externalId":"1","name":"P","price":7,"measure":{"value":`+value+`,"unit":"`+c.unit+`"},"schemeId":"`+c.scheme+`"}],
				"ingredientsSchemes":[{"id":"s","ingredientsGroups":[{"id":"g"}]},{"id":"outer","ingredientsGroups":[{"id":"h"}]},{"id":"other"}],
				"ingredientsGroups":[{"id":"g","name":"G","ingredients":["i"]},{"id":"h","name":"H","ingredients":["j"]}],
				"ingredients":[{"id":"i","name":"Sauce","price":`+c.price+`},{"id":"j","name":"J","price":0,"schemeId":"s"}]}`, menu.LintOptionByWeight)
			if len(found) == 1 != c.reported || len(found) > 1 {
				t.Fatalf("findings %+v", found)
			}
			if len(found) == 1 && (found[0].IDs["ingredient"] != "i" || !strings.Contains(found[0].Msg, "Sauce") || found[0].Products[0] != "p") {
				t.Errorf("finding %+v", found[0])
			}
		})
	}
}

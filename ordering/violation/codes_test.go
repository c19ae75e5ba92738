package violation_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"larder.local/ordering/violation"
)

// update rewrites the golden files: go test ./ordering/violation -run Violations -update.
var update = flag.Bool("update", false, "rewrite the golden files")

func TestViolationsDocument(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "docs", "violations.md")
	want := violationsDocument(t)
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; create it with: go test ./ordering/violation -run Violations -update", err)
	}
	if string(got) != want {
		t.Errorf("%s differs from the table; update it with: go test ./ordering/violation -run Violations -update", path)
	}
}

func violationsDocument(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("# Violations\n\n" +
		"<!-- Made from the table in ordering/violation/codestable_test.go by: go test ./ordering/violation -run Violations -update -->\n\n" +
		"The reasons for which an order is rejected. A response lists all violations of an order, in the order of the body.\n\n" +
		"- `path` is a JSON Pointer into the body, with the names that the client sent. If the field is missing, it is the name in\n" +
		"  [the interface](ordering-service.md#21-order).\n" +
		"- `code` and `params` are stable.\n" +
		"- `msg` is a message for people, in English or Russian by `Accept-Language`. Names of dishes and groups are those of the menu.\n\n" +
		"| code | meaning | params | example: path, params | English | Russian |\n|---|---|---|---|---|---|\n")
	for _, d := range documented {
		params := make([]string, 0, len(d.params))
		for _, p := range d.params {
			params = append(params, "`"+p.name+"` "+p.meaning)
		}
		example, err := json.Marshal(d.example())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | `%s` `%s` | %s | %s |\n",
			d.code, d.meaning, strings.Join(params, "; "), d.path, example,
			d.message(violation.English), d.message(violation.Russian))
	}
	return b.String()
}

func TestEveryCodeIsDescribed(t *testing.T) {
	t.Parallel()
	// The params are stable, because clients read them (docs/violations.md).
	want := map[violation.Code]string{
		"dish_not_in_menu": "id", "dish_unavailable": "id,name,until", "dish_not_orderable": "id,reasons",
		"external_id_ambiguous": "externalId,ids", "id_conflict": "id,externalId,ids,names", "quantity_not_positive": "quantity", "quantity_not_whole": "quantity",
		"quantity_too_small": "minimum",
		"price_changed":      "sent,current", "total_negative": "", "dish_takes_no_ingredients": "", "ingredient_not_in_menu": "id",
		"ingredient_not_allowed": "id,dish", "ingredient_unavailable": "id,reason,until",
		"group_min": "group,name,min,max,count,parent", "group_max": "group,name,min,max,count,parent", "group_pin_invalid": "groupId",
		"too_deep": "", "field_required": "field", "value_not_allowed": "allowed", "type_mismatch": "want,got",
		"decimal_comma": "", "time_zone_missing": "", "time_in_past": "earliest", "time_too_far": "latest",
		"too_soon": "earliest", "restaurant_closed": "opensAt,intervals", "restaurant_paused": "until", "minimum_order": "minimum,missing",
		"change_not_cash": "", "change_too_small": "minimum", "amount_insufficient": "total", "limit_exceeded": "limit",
		"phone_invalid": "digits,maximum", "text_invalid": "character",
	}
	if len(documented) != len(want) {
		t.Errorf("%d codes, the policies have %d", len(documented), len(want))
	}
	described := map[violation.Code]bool{}
	for _, d := range documented {
		described[d.code] = true
		names := make([]string, 0, len(d.params))
		for _, p := range d.params {
			names = append(names, p.name)
			if p.example == nil || p.meaning == "" {
				t.Errorf("%s: param %s has no example or no meaning", d.code, p.name)
			}
		}
		if got := strings.Join(names, ","); got != want[d.code] || len(d.example()) != len(d.params) {
			t.Errorf("%s: params %s, the policies have %s", d.code, got, want[d.code])
		}
		for name, text := range map[string]string{"code": string(d.code), "meaning": d.meaning, "path": d.path} {
			if text == "" {
				t.Errorf("the description with the code %q and the meaning %q has no %s", d.code, d.meaning, name)
			}
		}
	}
	codes := violation.Codes()
	if len(codes) != len(described) {
		t.Errorf("%d codes have messages, %d are described", len(codes), len(described))
	}
	for _, code := range codes {
		if !described[code] {
			t.Errorf("%s has a message and no description", code)
		}
	}
	for _, language := range violation.Languages() {
		if msg := violation.New("", "new", nil, language).Msg; msg != "new" {
			t.Errorf("the message of an unknown code is %q", msg)
		}
	}
}

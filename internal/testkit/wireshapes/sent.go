package wireshapes

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// dishesOf lists the dishes and ingredients of a body in the interface's names as
// "id x quantity", and checks their types.
func dishesOf(t *testing.T, body any) []string {
	t.Helper()
	list, ok := at(body, "dishList").([]any)
	if !ok {
		t.Fatalf("dishList is no list: %v", body)
	}
	var lines []string
	for _, dish := range list {
		lines = append(lines, lineOf(t, dish))
		ingredients, _ := at(dish, "ingredients").([]any)
		for _, ingredient := range ingredients {
			lines = append(lines, lineOf(t, ingredient))
			if within, _ := at(ingredient, "ingredients").([]any); len(within) > 0 {
				t.Errorf("an ingredient is sent with ingredients of its own: %v", ingredient)
			}
		}
	}
	return lines
}

func lineOf(t *testing.T, line any) string {
	t.Helper()
	id, isText := at(line, "ID").(string)
	quantity, isNumber := at(line, "quantity").(json.Number)
	_, hasPrice := at(line, "price").(json.Number)
	if !isText || !isNumber || !hasPrice {
		t.Errorf("a line is sent as %v, want ID as text, quantity and price as numbers", line)
	}
	return fmt.Sprintf("%s x%s", id, quantity)
}

// fieldOf returns the value at a path such as guest.phone or dishList.0.comment as
// text, also true and false; "" if it is missing.
func fieldOf(value any, path string) string {
	for name := range strings.SplitSeq(path, ".") {
		if list, ok := value.([]any); ok {
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(list) {
				return ""
			}
			value = list[i]
			continue
		}
		value = at(value, name)
	}
	if flag, ok := value.(bool); ok {
		return strconv.FormatBool(flag)
	}
	return text(value)
}

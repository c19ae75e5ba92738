package menu

import (
	"strings"

	"larder.local/internal/jsontext"
)

// stopFields are the paths of the fields that stop a dish or ingredient.
type stopFields struct{ contained, stopped, disabled string }

//nolint:gochecknoglobals // constant
var (
	productStops    = stopFields{"products[].isContainInStopList", "products[].isListStoped", "products[].disabled"}
	ingredientStops = stopFields{"ingredients[].isContainInStopList", "ingredients[].isListStoped", "ingredients[].disabled"}
)

// stop decodes one of the fields that stop a dish or ingredient (policy W7).
func (d *decoder) stop(fields *stopFields, folded string, list *StopList) bool {
	switch folded {
	case "iscontaininstoplist":
		d.stopList(fields.contained, list)
	case "isliststoped":
		list.All = d.flag(fields.stopped) || list.All
	case "disabled":
		list.All = d.flag(fields.disabled) || list.All
	default:
		return false
	}
	return true
}

func (d *decoder) stopList(field string, list *StopList) {
	switch d.Kind() {
	case jsontext.KindArray:
		d.stopEntries(field, list)
	case jsontext.KindNull:
		d.Skip()
	case jsontext.KindBool:
		value, _ := d.Bool()
		list.All = list.All || value
		d.report(IssueStopListForm, field, "")
	case jsontext.KindString:
		s, _ := d.Text()
		d.report(IssueStopListForm, field, s)
		switch strings.ToLower(s) {
		case "true":
			list.All = true
		case "", "false":
		default:
			list.IDs = append(list.IDs, s)
		}
	default:
		d.report(IssueStopListForm, field, d.Raw())
	}
}

// stopEntries decodes an array of restaurant ids. An invalid entry is kept as its JSON text: it
// names no restaurant, but makes the array non-empty (setting stop_list_any_value).
func (d *decoder) stopEntries(field string, list *StopList) {
	d.tail = "[]"
	for range d.Elements() {
		var id string
		switch d.Kind() {
		case jsontext.KindString, jsontext.KindNumber, jsontext.KindNull:
			id = d.identifier(field)
		default:
			id = string(jsontext.AppendCompact(nil, d.Raw(), nil))
			d.report(IssueStopListForm, field, id)
		}
		if id != "" {
			list.IDs = append(list.IDs, id)
		}
	}
	d.tail = ""
}

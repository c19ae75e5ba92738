package menu

import "larder/internal/jsontext"

// WithStopsOf gives the content of p with the stop lists that now has for the
// same dishes and ingredients, by their ids; of several definitions of an id
// the first one counts, as in Compile. What now does not have keeps what p says
// of it. O(size of both).
//
// It is how an older content is served with the stop lists of today (policy
// S7a). The error is ErrForeignStops.
func (p Published) WithStopsOf(now Published) (Published, error) {
	known := make(map[stoppedID]string)
	err := now.elements(func(of stoppedID, value string) {
		if _, again := known[of]; !again && of.id != "" {
			known[of] = value
		}
	})
	if err != nil {
		return Published{}, err
	}
	var table stopTable
	err = p.elements(func(of stoppedID, value string) {
		if current, ok := known[of]; ok {
			value = current
		}
		table.add([]byte(value))
	})
	if err != nil {
		return Published{}, err
	}
	return Published{Content: p.Content, Stops: table.encode()}, nil
}

// stoppedID is what a stop list is of: a dish or an ingredient.
type stoppedID struct{ list, id string }

// elements visits what has a stop list, in the order of Content. An element
// that has no id is visited with an empty one.
func (p Published) elements(visit func(of stoppedID, value string)) error {
	stops, err := readStops(p.Stops)
	if err != nil {
		return err
	}
	r, short := jsontext.NewReader(jsontext.String(p.Content), maxViewDepth), false
	for name := range r.Members() {
		list := jsontext.FoldName(name)
		if !stoppable(list) {
			continue
		}
		for range r.Elements() {
			if r.Kind() != jsontext.KindObject {
				continue
			}
			of := stoppedID{list: list}
			for name := range r.Members() {
				if jsontext.FoldName(name) == "id" {
					of.id, _ = r.ID()
				}
			}
			value, ok := stops.next()
			if short = short || !ok; ok {
				visit(of, value)
			}
		}
	}
	if short || !stops.done() || r.Err() != nil {
		return ErrForeignStops
	}
	return nil
}

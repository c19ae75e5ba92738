package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// The few words of a terminal that a redraw takes (ECMA-48).
const (
	goHome     = "\x1b[H"
	clearLine  = "\x1b[K"
	clearBelow = "\x1b[J"
	clearAll   = "\x1b[2J"
)

// screen redraws a terminal in place. A line never wraps, and there are never
// more lines than rows.
type screen struct {
	out     io.Writer
	size    func() (columns, rows int)
	colours palette
	begun   bool
}

// line is one line of a screen: its text, and how it is coloured as a whole.
type line struct {
	text string
	look func(string) styled
}

// draw shows one sight.
func (s *screen) draw(base string, seen *sight) error {
	columns, rows := s.size()
	var b strings.Builder
	if !s.begun {
		s.begun = true
		b.WriteString(clearAll)
	}
	b.WriteString(goHome)
	lines := s.lines(base, seen, rows-1) // the last row is where the cursor rests
	for _, l := range lines {
		text := cut(l.text, columns)
		if l.look != nil {
			text = string(l.look(text))
		}
		b.WriteString(text + clearLine + "\r\n")
	}
	b.WriteString(clearBelow)
	_, err := io.WriteString(s.out, b.String())
	return err
}

// lines are at most so many, the most important first.
func (s *screen) lines(base string, seen *sight, most int) []line {
	p := s.colours
	look := map[string]func(string) styled{"ok": p.good, "degraded": p.odd}[seen.Status]
	if look == nil {
		look = p.bad
	}
	head := fmt.Sprintf("%s: %s   %s", base, seen.Status, seen.At.Format(time.TimeOnly))
	if seen.Reason != "" {
		head += "   " + seen.Reason
	}
	lines := []line{{head, look}}
	for _, name := range slices.Sorted(maps.Keys(seen.Parts)) {
		part := seen.Parts[name]
		standing, look := part.standing(), p.bad
		if standing == standingOK {
			look = nil
			if part.Msg != "" {
				standing += ": " + part.Msg
			}
		}
		lines = append(lines, line{fmt.Sprintf("  %-20s %s", name, standing), look})
	}
	lines = append(lines, s.orderLines(seen)...)
	lines = append(lines, s.restaurantLines(seen, most-len(lines))...)
	return lines[:min(len(lines), max(most, 1))]
}

// orderLines names the orders that wait for somebody.
func (s *screen) orderLines(seen *sight) []line {
	switch {
	case !seen.Told:
		return []line{{"  orders               not shown: that takes a client with the scope ops (--config, or --client-id)", s.colours.faint}}
	case len(seen.Unknown) == 0:
		return []line{{"  orders               none unknown", nil}}
	}
	lines := []line{{fmt.Sprintf("  orders               %d unknown: ask the restaurant, then larder order resolve", len(seen.Unknown)), s.colours.bad}}
	for i := range seen.Unknown {
		if i == few {
			lines = append(lines, line{fmt.Sprintf("    … %d more: larder order list --state unknown", len(seen.Unknown)-few), nil})
			break
		}
		order := &seen.Unknown[i]
		lines = append(lines, line{fmt.Sprintf("    %s  %s  %s  %s", order.Ref, order.standing(), order.place(), order.CreatedAt), nil})
	}
	return lines
}

// restaurantLines are the summary and as many restaurants as there is room for.
func (s *screen) restaurantLines(seen *sight, room int) []line {
	if !seen.Listed {
		return []line{{"  restaurants          not shown: they cannot be listed just now, or menus are closed (--config, or --client-id)", s.colours.faint}}
	}
	lines := []line{{"  restaurants          " + seen.summary(), nil}, {}}
	room -= len(lines) + 1
	sorted := seen.worstFirst()
	if room < 1 || len(sorted) == 0 {
		return lines[:1]
	}
	wide := len("RESTAURANT")
	shown := sorted[:min(len(sorted), room)]
	for i := range shown {
		wide = max(wide, len([]rune(label(&shown[i]))))
	}
	wide = min(wide, 44)
	lines = append(lines, line{fmt.Sprintf("%s  %8s  %-9s  %s", pad("RESTAURANT", wide), "CHECKED", "LAST SYNC", "STATE"), s.colours.bold})
	for i := range shown {
		r := &shown[i]
		age := "never"
		if passed, known := r.age(seen.At); known {
			age = shortly(passed) + " ago"
		}
		l := line{text: fmt.Sprintf("%s  %8s  %-9s  %s", pad(cut(label(r), wide), wide), age, dash(r.LastOutcome), r.standing())}
		switch troubles := r.troubles(); {
		case slices.Contains(troubles, "failed"), slices.Contains(troubles, "no menu"), slices.Contains(troubles, "quarantined"):
			l.look = s.colours.bad
		case len(troubles) > 0:
			l.look = s.colours.odd
		}
		lines = append(lines, l)
	}
	return lines
}

// label is what a restaurant is called in a narrow column.
func label(r *restaurant) string {
	if name := nameBeside(r.ID, r.Name); name != "" {
		return name + " " + r.ID
	}
	return r.ID
}

// shortly is a duration as far as a glance wants it: 12s, 3m, 5h, 2d.
func shortly(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	default:
		return fmt.Sprintf("%dd", int(d.Hours()/24))
	}
}

// cut makes a text safe for a terminal and shortens it to so many characters.
func cut(text string, most int) string {
	runes := []rune(safe(text))
	if len(runes) <= most {
		return string(runes)
	}
	return string(runes[:max(most-1, 0)]) + "…"
}

// pad fills a text up to so many characters.
func pad(text string, wide int) string {
	return text + strings.Repeat(" ", max(wide-len([]rune(text)), 0))
}

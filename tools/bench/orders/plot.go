package orders

import (
	"fmt"
	"html"
	"strings"
)

// Sizes in pixels.
const (
	plotWidth  = 760
	labelWidth = 110
	barHeight  = 18
	titleRoom  = 28
	textRoom   = 330 // right of the longest bar
)

// Plot draws the orders per second as SVG: a bar for each number of instances, grouped
// by setup, all with the same scale. The parts of a bar are the shares of the CPU time.
func (g Growth) Plot() string {
	var text strings.Builder
	most := 1.0
	for _, m := range g.Setups {
		for _, p := range m.Points {
			most = max(most, p.of(perSecond))
		}
	}
	y := titleRoom
	for _, part := range parts() {
		fmt.Fprintf(&text, "<rect x=\"%d\" y=\"%d\" width=\"10\" height=\"10\" fill=\"%s\"/>\n", part.legend, y-22, part.fill)
		fmt.Fprintf(&text, "<text x=\"%d\" y=\"%d\" fill=\"#222\">%s</text>\n", part.legend+14, y-13, part.name)
	}
	for _, m := range g.Setups {
		fmt.Fprintf(&text, "<text x=\"8\" y=\"%d\" font-weight=\"bold\" fill=\"#222\">%s</text>\n", y+14, html.EscapeString(strings.ReplaceAll(m.Setup, "`", "")))
		y += titleRoom - 6
		for _, p := range m.Points {
			p.bar(&text, y, most)
			y += barHeight
		}
		y += barHeight / 2
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" font-family="sans-serif" font-size="11">
<title>Orders per second by number of instances, and who uses the CPU time</title>
<rect width="%d" height="%d" fill="#fff"/>
%s</svg>
`, plotWidth, y, plotWidth, y, text.String())
}

// part is a program in a bar.
type part struct {
	name, fill string
	legend     int // its x in the legend
	value      func(Run) float64
}

func parts() []part {
	return []part{
		{"larder", "#06c", 8, func(r Run) float64 { return r.Server }},
		{"Redis and replicas", "#c60", 70, func(r Run) float64 { return r.Redis + r.Replicas }},
		{"ordering service and generator", "#9bb", 200, func(r Run) float64 { return r.Service + r.Generator }},
	}
}

// bar draws the bar of a point.
func (p Point) bar(text *strings.Builder, y int, most float64) {
	noun := "instances"
	if p.Instances == 1 {
		noun = "instance"
	}
	fmt.Fprintf(text, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" fill=\"#222\">%d %s</text>\n", labelWidth-6, y+11, p.Instances, noun)
	whole := p.of(perSecond) / most * (plotWidth - labelWidth - textRoom)
	x := float64(labelWidth)
	for _, part := range parts() {
		width := whole * p.of(part.value) / max(p.total(), 1)
		fmt.Fprintf(text, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n", x, y, width, barHeight-4, part.fill)
		x += width
	}
	fmt.Fprintf(text, "<text x=\"%.1f\" y=\"%d\" fill=\"#222\">%.0f orders per second, %.0f µs of larder and Redis each</text>\n", x+4, y+11, p.of(perSecond), p.of(Run.cost))
}

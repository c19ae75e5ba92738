package measure

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// panel is one small diagram: a figure over the number of restaurants.
type panel struct {
	title string
	value func(f Figures) float64
	text  func(v float64) string
	alone bool // it is about one instance
}

func panels() []panel {
	const mib = 1 << 20
	seconds := func(v float64) string { return fmt.Sprintf("%.3g s", v) }
	mebibytes := func(v float64) string { return fmt.Sprintf("%.3g MiB", v) }
	return []panel{
		{"first fill of all replicas", func(f Figures) float64 { return time.Duration(f.Filled).Seconds() }, seconds, false},
		{"cold start until ready", func(f Figures) float64 { return time.Duration(f.ColdReady).Seconds() }, seconds, true},
		{"heap of one replica", func(f Figures) float64 { return float64(f.ColdHeap) / mib }, mebibytes, true},
		{"Redis", func(f Figures) float64 { return float64(f.RedisBytes) / mib }, mebibytes, true},
		{"CPU of the replicas, seconds per minute", func(f Figures) float64 { return sum(f.ReplicaCPU) }, seconds, false},
		{"CPU of polling alone, seconds per minute", func(f Figures) float64 { return f.PollCPU }, seconds, true},
	}
}

// Sizes in pixels.
const (
	panelWidth, panelHeight = 300, 190
	panelColumns            = 3
	edge                    = 34
)

// Plot draws the growth of the figures as SVG, one diagram for each. Both axes are
// logarithmic with the same span in all diagrams. The dashed line is linear growth: a
// figure below it grows more slowly.
func (r Report) Plot() string { return r.plot(panels()) }

func (r Report) plot(list []panel) string {
	var text strings.Builder
	height := panelHeight * ((len(list) + panelColumns - 1) / panelColumns)
	fmt.Fprintf(&text, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" font-family="sans-serif" font-size="11">`+"\n", panelWidth*panelColumns, height)
	fmt.Fprintf(&text, "<title>How time, memory and CPU grow with the number of restaurants</title>\n<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", panelWidth*panelColumns, height)
	for i, p := range list {
		fmt.Fprintf(&text, "<g transform=\"translate(%d %d)\">\n", i%panelColumns*panelWidth, i/panelColumns*panelHeight)
		r.draw(&text, p)
		text.WriteString("</g>\n")
	}
	text.WriteString("</svg>\n")
	return text.String()
}

func (r Report) draw(text *strings.Builder, p panel) {
	const left, right, top, bottom = edge, panelWidth - edge, 40, panelHeight - edge
	fmt.Fprintf(text, "<text x=\"%d\" y=\"20\" font-weight=\"bold\" fill=\"#222\">%s</text>\n", left, p.title)
	fmt.Fprintf(text, "<path d=\"M%d %dV%dH%d\" fill=\"none\" stroke=\"#888\"/>\n", left, top, bottom, right)
	sizes := make([]float64, len(r.Sizes))
	values := make([]float64, len(r.Sizes))
	for i, f := range r.Sizes {
		sizes[i], values[i] = math.Log10(float64(f.Restaurants)), math.Log10(max(p.value(f), 1e-6))
	}
	x := scale(sizes[0], sizes[len(sizes)-1], left+12, right-12)
	span := max(sizes[len(sizes)-1]-sizes[0], 0.1)
	y := scale(values[0], values[0]+1.1*span, bottom-12, top+14)
	fmt.Fprintf(text, "<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"#999\" stroke-dasharray=\"3 3\"/>\n",
		x(sizes[0]), y(values[0]), x(sizes[len(sizes)-1]), y(values[0]+span))
	points := make([]string, len(r.Sizes))
	for i, f := range r.Sizes {
		points[i] = fmt.Sprintf("%.1f,%.1f", x(sizes[i]), y(values[i]))
		fmt.Fprintf(text, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"#06c\"/>\n", x(sizes[i]), y(values[i]))
		fmt.Fprintf(text, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" fill=\"#222\">%s</text>\n", x(sizes[i]), y(values[i])-7, p.text(p.value(f)))
		fmt.Fprintf(text, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\" fill=\"#555\">%d</text>\n", x(sizes[i]), bottom+14, f.Restaurants)
	}
	fmt.Fprintf(text, "<polyline points=\"%s\" fill=\"none\" stroke=\"#06c\"/>\n", strings.Join(points, " "))
}

// scale maps a range of values to a range of pixels.
func scale(least, most, from, to float64) func(v float64) float64 {
	return func(v float64) float64 {
		if most == least {
			return (from + to) / 2
		}
		return from + (v-least)/(most-least)*(to-from)
	}
}

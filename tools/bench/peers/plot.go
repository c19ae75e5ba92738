package peers

import (
	"fmt"
	"html"
	"strings"

	"larder.local/tools/bench/measure"
)

// Sizes in pixels.
const (
	panelWidth = 460
	barHeight  = 16
	labelWidth = 190
	titleRoom  = 30
	columnsOf  = 2
)

// Plot draws the requests per second of the first mode as SVG: a bar chart for each
// scenario, each with its own scale. The dark bar is larder's.
func (r Report) Plot() string {
	var text strings.Builder
	if len(r.Modes) == 0 {
		return ""
	}
	mode := r.Modes[0]
	var heights [columnsOf]int // of the charts in each column
	for i, e := range mode.Scenarios {
		at := i % columnsOf
		fmt.Fprintf(&text, "<g transform=\"translate(%d %d)\">\n", at*panelWidth, heights[at])
		heights[at] += e.bars(&text)
		text.WriteString("</g>\n")
	}
	height := max(heights[0], heights[1]) + barHeight
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" font-family="sans-serif" font-size="11">
<title>Requests a second of larder and others, %s</title>
<rect width="%d" height="%d" fill="#fff"/>
%s</svg>
`, panelWidth*columnsOf, height, mode.Name, panelWidth*columnsOf, height, text.String())
}

// bars draws one chart and returns its height.
func (m Measured) bars(text *strings.Builder) int {
	fmt.Fprintf(text, "<text x=\"8\" y=\"20\" font-weight=\"bold\" fill=\"#222\">%s, thousands of requests per second</text>\n", html.EscapeString(m.Name))
	most := 0.0
	for _, s := range m.Series {
		most = max(most, measure.Median(s.rates()))
	}
	y := titleRoom
	for _, s := range m.Series {
		rate, fill := measure.Median(s.rates()), "#9bb"
		if s.Name == ourName {
			fill = "#06c"
		}
		width := 0.0
		if most > 0 {
			width = rate / most * (panelWidth - labelWidth - 60)
		}
		fmt.Fprintf(text, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" fill=\"#222\">%s</text>\n", labelWidth-6, y+11, html.EscapeString(s.Name))
		fmt.Fprintf(text, "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n", labelWidth, y, width, barHeight-4, fill)
		fmt.Fprintf(text, "<text x=\"%.1f\" y=\"%d\" fill=\"#222\">%s</text>\n", labelWidth+width+4, y+11, thousands(rate))
		y += barHeight
	}
	return y + barHeight/2
}

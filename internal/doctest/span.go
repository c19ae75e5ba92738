package doctest

import "strings"

// Spans are the pieces of code within the page's sentences: what stands between
// single backticks, outside blocks.
func (p *Page) Spans() []string {
	var spans []string
	for _, line := range p.prose() {
		for _, span := range codeForm.FindAllString(line, -1) {
			spans = append(spans, strings.Trim(span, "`"))
		}
	}
	return spans
}

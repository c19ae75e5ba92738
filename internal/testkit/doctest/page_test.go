package doctest

import (
	"strings"
	"testing"
)

// fenced replaces three apostrophes in a page by a fence.
func fenced(text string) string { return strings.ReplaceAll(text, "'''", "```") }

func TestStepsOfAPage(t *testing.T) {
	t.Parallel()
	p := parse("page.md", fenced(`# Page
<!-- setup: redis -->

<!-- status: 1 -->
'''sh
false
'''

'''text
nothing
'''

'''sh
echo a
'''
Prose.
'''text
of something else
'''

<!-- not run: kubernetes -->
'''sh
kubectl get pods
'''

'''http
GET /livez
'''

What comes:

'''http
HTTP/1.1 200 OK
'''

'''yaml
http: {}
'''
`))
	steps, err := p.Steps()
	if err != nil || len(steps) != 4 || p.Setup != "redis" {
		t.Fatalf("%d steps, setup %q, %v", len(steps), p.Setup, err)
	}
	if s := steps[0]; s.Line != 5 || s.script != "false\n" || s.status != 1 || s.answer == nil || s.answer.text != "nothing\n" {
		t.Errorf("first step %+v", s)
	}
	if s := steps[1]; s.script != "echo a\n" || s.answer != nil {
		t.Errorf("second step %+v", s)
	}
	if s := steps[2]; s.NotRun != "kubernetes" {
		t.Errorf("third step %+v", s)
	}
	if s := steps[3]; s.request != "GET /livez\n" || s.answer == nil || s.answer.text != "HTTP/1.1 200 OK\n" {
		t.Errorf("fourth step %+v", s)
	}
}

func TestBlocksThatWouldBeSkippedAreRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"bash":                                  "'''bash\necho\n'''",
		"a prompt":                              "'''console\n$ echo\n'''",
		"an answer alone":                       "'''http\nHTTP/1.1 200 OK\n'''",
		"two answers":                           "'''http\nGET /\n'''\n'''http\nHTTP/1.1 200 OK\n'''\n'''http\nHTTP/1.1 200 OK\n'''",
		"a header alone":                        "'''http\nIdempotency-Key: a\n'''",
		"an invalid status":                     "<!-- status: some -->\n'''sh\nfalse\n'''",
		"a status of a request":                 "<!-- status: 1 -->\n'''http\nGET /\n'''",
		"a comment above another kind of block": "<!-- not run: kubernetes -->\n'''text\nfalse\n'''",
	} {
		if steps, err := parse("page.md", fenced(text)).Steps(); err == nil {
			t.Errorf("%s: accepted as %+v", name, steps)
		}
	}
}

package menu_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"larder.local/internal/menu"
)

// listOf returns n elements of a JSON array. format formats each element with its number.
func listOf(n int, format string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, format, i)
	}
	return "[" + b.String() + "]"
}

// soon fails if work takes too long. Without the limits under test, the work is quadratic
// and takes minutes or gigabytes.
func soon(t *testing.T, what string, work func()) {
	t.Helper()
	begun := time.Now()
	work()
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("%s took %s", what, took)
	}
}

func TestTooLargeMenusAreRejected(t *testing.T) {
	t.Parallel()
	many := 3_000
	for name, body := range map[string]string{
		"elements":           `{"products":` + strings.Replace(strings.Repeat(`,{}`, 1_000_001), ",", "[", 1) + `]}`,
		"elements of groups": `{"ingredientsGroups":[{"id":"g","ingredients":` + strings.Replace(strings.Repeat(`,1`, 1_000_001), ",", "[", 1) + `]}]}`,
		"offers": `{"ingredientsGroups":[{"id":"g","ingredients":` + listOf(many, `"i%d"`) + `}],"ingredientsSchemes":` +
			listOf(many, `{"id":"s%d","ingredientsGroups":[{"id":"g"}]}`) + `}`,
		"groups of dishes": `{"products":` + listOf(many, `{"id":"p%d","price":1,"schemeId":"s"}`) +
			`,"ingredientsSchemes":[{"id":"s","ingredientsGroups":` + listOf(many, `{"id":"g%d"}`) + `}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := menu.Decode([]byte(body))
			if _, ok := errors.AsType[*menu.LimitError](err); !ok {
				t.Errorf("Decode of %d bytes = %v, want a *LimitError", len(body), err)
			}
		})
	}
}

func TestAnyNumberOfUnknownFieldsIsReadOnce(t *testing.T) {
	t.Parallel()
	fields := listOf(200_000, `"x%d":1`)
	body := `{"products":[{"id":"p","price":1,"x7":0,` + strings.Trim(fields, "[]") + `}]}`
	soon(t, "an object of 200,000 unknown fields", func() {
		content := string(published(t, body).Content)
		if got := strings.Count(content, `"x`); got != 200_001 {
			t.Errorf("%d unknown fields are kept, want 200001", got)
		}
		if !strings.Contains(content, `"x69999":1,"x7":0,"x7":1,"x70":1,`) {
			t.Error("the unknown fields are not sorted, or two with one name are not in their original order")
		}
	})
}

func TestIssuesAreBoundedAndCounted(t *testing.T) {
	t.Parallel()
	v := decode(t, `{"products":`+strings.Replace(strings.Repeat(`,1`, 250_000), ",", "[", 1)+`]}`)
	if len(v.Issues) != 50_000 || v.IssuesOmitted != 200_000 {
		t.Errorf("%d issues and %d omitted, want 50000 and 200000", len(v.Issues), v.IssuesOmitted)
	}
	findings := menu.Lint(v, "r1", menu.DefaultSettings())
	if last := findings[len(findings)-1]; last.Code != menu.LintFindingsOmitted || !strings.Contains(last.Msg, "200000") {
		t.Errorf("the last finding is %+v, want findings_omitted with 200000", last)
	}
}

func TestLintListsDishesWithinABound(t *testing.T) {
	t.Parallel()
	many := 2_000
	v := decode(t, `{"products":`+listOf(many, `{"id":"p%d","name":"P","externalId":"e%[1]d","price":1,"schemeId":"s"}`)+
		`,"ingredientsSchemes":[{"id":"s","ingredientsGroups":`+listOf(many, `{"id":"g%d"}`)+`}]}`)
	soon(t, "lint", func() {
		listed, truncated, named := 0, 0, 0
		for _, f := range menu.Lint(v, "r1", menu.DefaultSettings()) {
			listed += len(f.Products)
			if f.Code == menu.LintGroupUnknown {
				named++
				if f.Truncated {
					truncated++
				}
				if f.Truncated != (len(f.Products) == 0) {
					t.Fatalf("finding %+v: truncated, or every dish", f)
				}
			}
		}
		if named != many || listed > 500_000 || truncated != many-250 {
			t.Errorf("%d findings name a group, %d of them truncated, %d dishes in all; want %d, %d, at most 500000",
				named, truncated, listed, many, many-250)
		}
	})
}

func TestAProductWithManyGroupsIsTruncated(t *testing.T) {
	t.Parallel()
	many := 1_000
	c := menu.Compile(decode(t, `{"products":[{"id":"p","price":1,"schemeId":"outer"}],"ingredientsSchemes":[`+
		`{"id":"outer","ingredientsGroups":[{"id":"g"}]},{"id":"inner","ingredientsGroups":`+listOf(many, `{"id":"e%d"}`)+`}],`+
		`"ingredientsGroups":[{"id":"g","ingredients":`+listOf(many, `"i%d"`)+`},`+strings.Trim(listOf(many, `{"id":"e%d"}`), "[]")+`],`+
		`"ingredients":`+listOf(many, `{"id":"i%d","price":1,"schemeId":"inner"}`)+`}`), "r1", menu.DefaultSettings())
	out := c.AppendProduct(nil, 0, 1)
	if !json.Valid(out) || len(out) > 4<<20 || !strings.HasSuffix(string(out), `"truncated":true}}`) {
		t.Errorf("a form of 1,000,000 groups is %d bytes, valid %v, ends %s", len(out), json.Valid(out), out[max(0, len(out)-40):])
	}
}

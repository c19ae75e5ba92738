package doctest

import "testing"

func TestMatchText(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		page, came string
		same       bool
	}{
		"equal":                     {"a\n", "a\n", true},
		"another word":              {"a b\n", "a c\n", false},
		"anything within a line":    {"a … c\n", "a b c\n", true},
		"not beyond the line":       {"a …\n", "a b\nc\n", false},
		"any lines":                 {"a\n…\nd\n", "a\nb\nc\nd\n", true},
		"no lines":                  {"a\n…\nd\n", "a\nd\n", true},
		"a line more":               {"a\n", "a\nb\n", false},
		"times and refs":            {"2026-01-01T00:00:00Z 01M7Y94TDK8JNEE2TA5BAWP218\n", "2027-02-02T01:01:01.123Z 01ZZZZZZZZZZZZZZZZZZZZZZZZ\n", true},
		"another offset":            {"2026-01-01T00:00:00Z\n", "2026-01-01T03:00:00+03:00\n", false},
		"no meaning in full stops":  {"a.c\n", "abc\n", false},
		"milliseconds":              {"in 1.5 ms\n", "in 20 ms\n", true},
		"a number that is the page": {"total 1473\n", "total 1474\n", false},
	} {
		if got := match(c.page, c.came, false); (got == "") != c.same {
			t.Errorf("%s: %q and %q differ by %q", name, c.page, c.came, got)
		}
	}
}

func TestMatchJSON(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		page, came string
		same       bool
	}{
		"equal":                   {`{"a":[1,null,true,"x"]}`, `{"a":[1,null,true,"x"]}`, true},
		"a member is missing":     {`{"a":1,"b":2}`, `{"a":1}`, false},
		"a member more":           {`{"a":1}`, `{"a":1,"b":2}`, false},
		"members that may be":     {`{"a":1,"…":"…"}`, `{"a":1,"b":2}`, true},
		"another type":            {`{"a":1}`, `{"a":"1"}`, false},
		"null is no text":         {`{"a":"x"}`, `{"a":null}`, false},
		"text is no null":         {`{"a":null}`, `{"a":"x"}`, false},
		"anything":                {`{"a":"…"}`, `{"a":{"b":1}}`, true},
		"the end of a text":       {`"a…"`, `"ab"`, true},
		"not the beginning":       {`"a…"`, `"ba"`, false},
		"times":                   {`"2026-01-01T00:00:00Z"`, `"2027-02-02T01:01:01.123Z"`, true},
		"another offset":          {`"2026-01-01T00:00:00Z"`, `"2026-01-01T03:00:00+03:00"`, false},
		"no time":                 {`"2026-01-01T00:00:00Z"`, `"soon"`, false},
		"refs":                    {`"01M7Y94TDK8JNEE2TA5BAWP218"`, `"01ZZZZZZZZZZZZZZZZZZZZZZZZ"`, true},
		"no ref":                  {`"01M7Y94TDK8JNEE2TA5BAWP218"`, `"1"`, false},
		"elements that may be":    {`[1,"…"]`, `[1,2,3]`, true},
		"none of them":            {`[1,"…"]`, `[1]`, true},
		"an element more":         {`[1]`, `[1,2]`, false},
		"an element is missing":   {`[1,2]`, `[1]`, false},
		"another number":          {`{"total":640}`, `{"total":641}`, false},
		"a number's digits":       {`{"total":640}`, `{"total":640.0}`, false},
		"durations":               {`{"steps":{"fetch":1.5},"ms":1}`, `{"steps":{"fetch":2},"ms":7}`, true},
		"no duration":             {`{"steps":{"fetch":1.5}}`, `{"steps":{"fetch":null}}`, false},
		"no JSON came":            {`{}`, `<html>`, false},
		"more than one came":      {`{}`, `{}{}`, false},
		"the page's JSON is none": {`{`, `{}`, false},
	} {
		if got := match(c.page, c.came, true); (got == "") != c.same {
			t.Errorf("%s: %s and %s differ by %q", name, c.page, c.came, got)
		}
	}
}

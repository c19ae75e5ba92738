package configs

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"
)

var update = flag.Bool("update", false, "write the reference in docs/configuration.md")

// referenceBegins is the line of docs/configuration.md before the reference.
const referenceBegins = "<!-- Written by: go test ./configs -run Reference -update -->\n"

// TestReference compares docs/configuration.md with the keys of the code, their
// defaults and the comments of larder.yaml.
func TestReference(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "docs", "configuration.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, got, found := strings.Cut(string(page), referenceBegins)
	if !found {
		t.Fatalf("%s has no line %s", path, referenceBegins)
	}
	want := reference(t)
	if *update {
		if err := os.WriteFile(path, []byte(before+referenceBegins+want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the reference (-code +page); go test ./configs -run Reference -update writes it:\n%s", diff)
	}
}

// row is one row of the reference: keys that one comment of larder.yaml explains.
type row struct {
	keys, defaults []string
	meaning        string
}

// reference returns a table of keys for each section.
func reference(t *testing.T) string {
	t.Helper()
	said := sayings(string(uncommented()))
	var text strings.Builder
	root := reflect.ValueOf(parsed(t, nil)).Elem()
	for _, f := range fieldsOf(root.Type()) {
		fmt.Fprintf(&text, "\n### `%s`\n\n", f.name)
		if intro := said[f.name].text; intro != "" {
			text.WriteString(strings.TrimSuffix(intro, " Sample:") + "\n\n")
		}
		text.WriteString("| key | default | meaning |\n|---|---|---|\n")
		var rows []row
		for _, r := range rowsOf(f.name, f, root.FieldByIndex(f.index), said)[1:] {
			rows = r.under(rows, said)
		}
		for _, r := range rows {
			if section, _, _ := strings.Cut(r.keys[0], "."+lastOf(r.keys[0])); r.meaning == "" && said[plain(section)].text == "" {
				t.Errorf("larder.yaml has no comment for %s", r.keys[0])
			}
			fmt.Fprintf(&text, "| %s | %s | %s |\n", strings.Join(r.keys, "<br>"), strings.Join(r.defaults, "<br>"), r.meaning)
		}
	}
	return text.String()
}

// plain returns a key in the form of sayings. lastOf returns its last name.
func plain(key string) string { return strings.NewReplacer("`", "", "[]", "").Replace(key) }

func lastOf(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

// under appends the row to rows, or merges it with the last of them if one comment
// explains both.
func (r row) under(rows []row, said map[string]saying) []row {
	last := len(rows) - 1
	if said[plain(r.keys[0])].withTheOneBefore && last >= 0 {
		rows[last].keys, rows[last].defaults = append(rows[last].keys, r.keys...), append(rows[last].defaults, r.defaults...)
		return rows
	}
	return append(rows, r)
}

// rowsOf returns the rows of a key and of all keys inside it. Elements of a list have
// the defaults of a new element. A section without a comment has no row, except at the
// top level.
func rowsOf(path string, f field, v reflect.Value, said map[string]saying) []row {
	r := row{keys: []string{"`" + path + "`"}, defaults: []string{""}, meaning: said[plain(path)].text}
	inside := func(path string, v reflect.Value) []row {
		var rows []row
		for _, f := range fieldsOf(v.Type()) {
			rows = append(rows, rowsOf(join(path, f.name), f, v.FieldByIndex(f.index), said)...)
		}
		return rows
	}
	switch typ := v.Type(); {
	case f.secret:
		if strings.HasPrefix(r.meaning, "or "+f.name+fileSuffix) {
			r.meaning = "" // true for all secrets
		}
		r.meaning = strings.TrimPrefix(r.meaning+fmt.Sprintf(" A secret: a value, `${NAME}`, or `%s%s`.", f.name, fileSuffix), " ")
	case typ.Kind() == reflect.Pointer && typ.Elem().Kind() == reflect.Struct:
		var keys []string
		for _, inner := range fieldsOf(typ.Elem()) {
			keys = append(keys, "`"+inner.name+"`")
		}
		r.meaning += ": " + strings.Join(keys, ", ")
		return []row{r}
	case typ.Kind() == reflect.Slice && typ.Elem().Kind() == reflect.Struct && !isText(typ):
		r.defaults, r.meaning = []string{"`[]`"}, strings.TrimSuffix(r.meaning, " Sample:")
		return append([]row{r}, inside(path+"[]", newDefault(typ.Elem()))...)
	case typ.Kind() == reflect.Struct && !isText(typ):
		rows := inside(path, v)
		if r.meaning == "" && strings.Contains(path, ".") {
			return rows
		}
		return append([]row{r}, rows...)
	}
	r.defaults = []string{defaultOf(v)}
	return []row{r}
}

// defaultOf returns a default in the form of the file, or "" for none.
func defaultOf(v reflect.Value) string {
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return ""
	}
	list := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle, Content: []*yaml.Node{printable(v)}}
	text, err := yaml.Dump(list, yaml.WithLineWidth(-1), yaml.WithQuotePreference(yaml.QuoteDouble))
	value := strings.TrimSuffix(strings.TrimPrefix(string(text), "["), "]\n")
	if err != nil || value == "null" || value == `""` {
		return ""
	}
	return "`" + value + "`"
}

// saying is the comment of larder.yaml for a key.
type saying struct {
	text             string
	withTheOneBefore bool // the comment of the previous key explains both
}

var keyForm = regexp.MustCompile(`^( *)(- )?([a-z_]+):(?: (.*))?$`)

// sayings reads the comments of larder.yaml above keys and after values. The names of
// keys are those of Config, without indexes.
func sayings(text string) map[string]saying {
	said := map[string]saying{}
	type level struct {
		indent int
		path   string
	}
	var levels []level
	var comment []string
	explained := false // the previous line is a key with a comment above it, or belongs to one
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if words, isComment := strings.CutPrefix(strings.TrimSpace(line), "#"); isComment {
			comment, explained = append(comment, strings.TrimPrefix(words, " ")), false
			continue
		}
		key := keyForm.FindStringSubmatch(line)
		if key == nil {
			comment, explained = nil, false
			continue
		}
		indent := len(key[1]) + len(key[2])
		for len(levels) > 0 && levels[len(levels)-1].indent >= indent {
			levels = levels[:len(levels)-1]
		}
		path := key[3]
		if len(levels) > 0 {
			path = levels[len(levels)-1].path + "." + path
		}
		_, behind, hasBehind := strings.Cut(" "+key[4], " #")
		switch {
		case len(comment) > 0:
			said[path], explained = saying{text: prose(comment)}, true
		case hasBehind:
			said[path], explained = saying{text: prose([]string{strings.TrimSpace(behind)})}, false
		default:
			said[path] = saying{withTheOneBefore: explained && key[4] != ""}
		}
		if key[4] == "" || strings.HasPrefix(strings.TrimSpace(key[4]), "#") {
			explained = false // the keys inside have their own comments
		}
		levels, comment = append(levels, level{indent, path}), nil
	}
	return said
}

var choiceForm = regexp.MustCompile(`^([a-z]+: |redis\S*://)`)

// prose joins the lines of a comment. It keeps the lines of a list of choices and
// escapes Markdown.
func prose(lines []string) string {
	var text strings.Builder
	for i, line := range lines {
		switch {
		case i == 0:
		case choiceForm.MatchString(line) || strings.HasPrefix(lines[i-1], "redis"):
			text.WriteString("<br>")
		default:
			text.WriteString(" ")
		}
		text.WriteString(line)
	}
	return strings.NewReplacer("|", `\|`, "*", `\*`).Replace(text.String())
}

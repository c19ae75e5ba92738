package configs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// kitchen is a configuration with all kinds of values that sections use.
type kitchen struct {
	HTTP  door    `yaml:"http"`
	Cooks []cook  `yaml:"cooks"`
	Notes *string `yaml:"notes"`
	Own   preset  `yaml:"own"`
}

type door struct {
	Listen  string        `yaml:"listen"`
	Wait    time.Duration `yaml:"wait"`
	Origins []string      `yaml:"cors_origins"`
	Open    *bool         `yaml:"open"`
	Size    size          `yaml:"size"`
}

func (d *door) SetDefaults() { d.Listen, d.Wait = "127.0.0.1:8080", time.Minute }

type cook struct {
	Name     string  `yaml:"name"`
	Knives   int     `yaml:"knives"`
	Share    float64 `yaml:"share"`
	PIN      string  `secret:"true"   yaml:"pin"`
	Internal string
}

func (c *cook) SetDefaults() { c.Knives = 3 }

// size parses its own text.
type size int64

func (s *size) UnmarshalText(text []byte) error {
	number, ok := strings.CutSuffix(string(text), "MiB")
	if !ok || len(number) != 1 {
		return errors.New("write a size as 5MiB")
	}
	*s = size(number[0]-'0') << 20
	return nil
}

// preset is a word, or a section whose defaults depend on its values.
type preset struct {
	Word  string `yaml:"word"`
	Other string `yaml:"other"`
}

func (p *preset) UnmarshalText(text []byte) error {
	*p = preset{Word: string(text), Other: "of the word"}
	return nil
}

func (p *preset) SetDefaults() {
	if p.Other == "" {
		p.Other = "of " + p.Word
	}
}

// load reads text and env into a new kitchen.
func load(t *testing.T, text string, env ...string) (kitchen, *loader) {
	t.Helper()
	var k kitchen
	l := newLoader("larder.yaml", env)
	l.read([]byte(text), reflect.ValueOf(&k).Elem())
	return k, l
}

func mustLoad(t *testing.T, text string, env ...string) kitchen {
	t.Helper()
	k, l := load(t, text, env...)
	if len(l.problems) > 0 {
		t.Fatalf("problems reading\n%s\n%v", text, l.problems.sorted())
	}
	return k
}

func wantProblems(t *testing.T, text string, env []string, want ...string) {
	t.Helper()
	_, l := load(t, text, env...)
	var got []string
	for _, p := range l.problems.sorted() {
		got = append(got, p.Error())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems of\n%s\nenv %v (-want +got):\n%s", text, env, diff)
	}
}

func TestFillReadsEveryKind(t *testing.T) {
	t.Parallel()
	got := mustLoad(t, `
http:
  wait: 90s
  cors_origins: [https://a.example, "https://b.example"]
  open: false
  size: 5MiB
cooks:
  - name: 0123
    share: 0.5
    pin: "12 34"
  - name: Zoë
    knives: 0
notes: |
  two
  lines
own: {word: section}
`)
	notes, open := "two\nlines\n", false
	want := kitchen{
		HTTP: door{
			Listen:  "127.0.0.1:8080",
			Wait:    90 * time.Second,
			Origins: []string{"https://a.example", "https://b.example"},
			Open:    &open,
			Size:    5 << 20,
		},
		Cooks: []cook{
			{Name: "0123", Knives: 3, Share: 0.5, PIN: "12 34"},
			{Name: "Zoë", Knives: 0},
		},
		Notes: &notes,
		Own:   preset{Word: "section", Other: "of section"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("loaded (-want +got):\n%s", diff)
	}
}

func TestAnchorsAndMergeKeysAreRejected(t *testing.T) {
	t.Parallel()
	const anchors = "anchors and aliases (&name, *name) are not supported: write the value where it is needed, in quotes if it starts with & or *"
	wantProblems(t, "http:\n  listen: &a b\nnotes: *a\n", nil, "larder.yaml:2:11: http.listen: "+anchors, "larder.yaml:3:8: notes: "+anchors)
	wantProblems(t, "http: &a\n  <<: *a\n  listen: b\n", nil, "larder.yaml:1:7: http: "+anchors)
	wantProblems(t, "cooks: [{pin: *s3cret}]\n", nil, "larder.yaml:1:15: invalid YAML: "+anchors) // not the secret
	wantProblems(t, "http:\n  <<: {listen: b}\n  lisen: c\n", nil,
		"larder.yaml:2:3: http: merge keys (<<) are not supported: write the keys where they are needed",
		`larder.yaml:3:3: unknown key "lisen" in http: did you mean "listen"?`)
}

func TestEmptyKeysKeepTheirDefaults(t *testing.T) {
	t.Parallel()
	got := mustLoad(t, "http:\n  listen:\ncooks:\n")
	if got.HTTP.Listen != "127.0.0.1:8080" || got.Cooks != nil {
		t.Errorf("loaded %+v, want the defaults", got)
	}
}

func TestProblemsNameFileLineAndColumn(t *testing.T) {
	t.Parallel()
	wantProblems(t, `http:
  lisen: x
  wait: soon
cooks:
  - name: [a]
    knives: many
    share: half
  - pni: 1
    size: 2
spice: 1
`, nil,
		`larder.yaml:2:3: unknown key "lisen" in http: did you mean "listen"?`,
		`larder.yaml:3:9: http.wait: invalid duration "soon": write a number and a unit, such as 500ms, 30s, 2m or 24h`,
		`larder.yaml:5:11: cooks[0].name: must be one value, not a list`,
		`larder.yaml:6:13: cooks[0].knives: "many" must be an integer`,
		`larder.yaml:7:12: cooks[0].share: "half" must be a number`,
		`larder.yaml:8:5: unknown key "pni" in cooks[1]: did you mean "pin"?`,
		`larder.yaml:9:5: unknown key "size" in cooks[1]: the keys are name, knives, share, pin, pin_file`,
		`larder.yaml:10:1: unknown key "spice" in the configuration: the keys are http, cooks, notes, own`,
	)
}

func TestWrongShapes(t *testing.T) {
	t.Parallel()
	wantProblems(t, "http: 5\ncooks: {name: a}\n", nil,
		`larder.yaml:1:7: http: must be a section of keys and values, such as "key: value", not a single value`,
		"larder.yaml:2:8: cooks: must be a list, not a section",
	)
	wantProblems(t, "http:\n  listen: a\n  listen: b\n", nil,
		`larder.yaml:3:3: http.listen: is also on line 2: remove one`)
	wantProblems(t, "http:\n  listen: a\nhttp:\n  wait: soon\n", nil,
		`larder.yaml:3:1: http: is also on line 1: remove one`)
	wantProblems(t, "http:\n  listen: a\n\tstate_dir: b\n", nil,
		`larder.yaml:3:1: invalid YAML: indent with spaces, not tabs`)
	wantProblems(t, "http:\n\tlisten: a\n", nil,
		`larder.yaml:2:1: invalid YAML: indent with spaces, not tabs`)
	wantProblems(t, "http:\n  listen: a\n   state_dir: b\n", nil,
		"larder.yaml:3:13: invalid YAML: mapping values are not allowed in this context"+checkSyntax)
	wantProblems(t, "notes: a\n---\nnotes: b\n", nil,
		`larder.yaml:3:1: this is a second YAML document: write everything into one`)
}

// checkSyntax ends the errors of the YAML library.
const checkSyntax = ": check the indentation, here and one line above, and the quotes (a value with special characters needs single quotes)"

func TestInvalidYAMLSaysWhatToDo(t *testing.T) {
	t.Parallel()
	const start, brackets = "found character that cannot start any token", "did not find expected ',' or "
	for text, want := range map[string]string{
		"cooks:\n-\tname: a\n":                          "2:2: invalid YAML: indent with spaces, not tabs",
		"cooks:\n  - pin: a\n\t  name: é\n":             "3:1: invalid YAML: indent with spaces, not tabs",
		"notes: @a\n":                                   "1:8: invalid YAML: " + start + checkSyntax,
		"notes: `a\n":                                   "1:8: invalid YAML: " + start + checkSyntax,
		"notes: %a\n":                                   "1:8: invalid YAML: " + start + checkSyntax,
		"notes: |a\n":                                   "1:8: invalid YAML: did not find expected comment or line break" + checkSyntax,
		"notes: ]\n":                                    "1:8: invalid YAML: did not find expected node content" + checkSyntax,
		"notes: &\n":                                    "1:8: invalid YAML: did not find expected alphabetic or numeric character" + checkSyntax,
		"notes: \"a\" b\n":                              "1:12: invalid YAML: did not find expected key" + checkSyntax,
		"notes: a\nhttp\n":                              "2:1: invalid YAML: could not find expected ':'" + checkSyntax,
		"http: [a\n":                                    "1:7: invalid YAML: " + brackets + "']'" + checkSyntax,
		"http: {listen: a\n":                            "1:7: invalid YAML: " + brackets + "'}'" + checkSyntax,
		"http: {listen: a\ncooks: {name: b}\n":          "2:6: invalid YAML: " + brackets + "'}'" + checkSyntax,
		"http: {cors_origins: [a}\n":                    "1:24: invalid YAML: " + brackets + "']'" + checkSyntax,
		"http:\n  listen: \"C:\\dir\"\n":                "2:11: invalid YAML: found unknown escape character" + checkSyntax,
		"http:\n  listen: \"a\n  wait: 5s\n":            "2:11: invalid YAML: the quote is not closed on this line",
		"http:\n  listen: \"a\n  origins: [\"b\"]\n":    "2:11: invalid YAML: the quote is not closed on this line",
		"http:\n  listen: \"a\n  notes: \"\"\n":         "2:11: invalid YAML: the quote is not closed on this line",
		"http:\n  listen: \"C:\\\"\n  wait: 5s\n":       "2:11: invalid YAML: the quote is not closed on this line",
		"http:\n  listen: 'é\n\twait: 5s\n  notes: 'a'": "2:11: invalid YAML: the quote is not closed on this line",
	} {
		wantProblems(t, text, nil, "larder.yaml:"+want)
	}
}

func TestTagsAreRejected(t *testing.T) {
	t.Parallel()
	const tags = "tags (!name) are not supported: put the value in quotes if it starts with !"
	wantProblems(t, "http:\n  listen: !abc\n", nil, "larder.yaml:2:11: http.listen: "+tags)
	wantProblems(t, "http:\n  listen: !\n  wait: 5s\n", nil, "larder.yaml:2:11: http.listen: "+tags)
	wantProblems(t, "http:\n  listen: !abc\n  wait: 5s\n", nil, "larder.yaml:2:11: http.listen: "+tags)
	wantProblems(t, "http: {listen: !!str abc}\n", nil, "larder.yaml:1:16: http.listen: "+tags)
	wantProblems(t, "http:\n  cors_origins:\n  - !abc\n  - b\n", nil, "larder.yaml:3:5: http.cors_origins[0]: "+tags)
	wantProblems(t, "cooks:\n- {name: !abc , pin: a}\n", nil, "larder.yaml:2:10: cooks[0].name: "+tags)
	wantProblems(t, "http: {listen: !abc}\n", nil, "larder.yaml:1:16: http.listen: "+tags)
	wantProblems(t, "!abc\n", nil, "larder.yaml:1:1: "+tags)
	if got := mustLoad(t, "http: {listen: \"!abc\"}\n").HTTP.Listen; got != "!abc" {
		t.Errorf("a quoted value is %q", got)
	}
}

func TestEnvironmentWinsAndExtendsLists(t *testing.T) {
	t.Parallel()
	got := mustLoad(t, "http: {listen: a}\ncooks: [{name: A, pin: a}]\n",
		"LARDER_HTTP_LISTEN=b",
		"LARDER_HTTP_CORS_ORIGINS=https://a.example, https://b.example",
		"LARDER_HTTP_CORS_ORIGINS_2=https://c.example",
		"LARDER_HTTP_OPEN=true",
		"LARDER_HTTP_SIZE=2MiB",
		"LARDER_COOKS_1_NAME=B",
		"LARDER_COOKS_1_PIN=$x${HOME}",
		"LARDER_COOKS_0_SHARE=0.25",
		"LARDER_OWN=word",
		"LARDER_NOTES=n",
		"OTHER=1",
	)
	notes, open := "n", true
	want := kitchen{
		HTTP: door{
			Listen:  "b",
			Wait:    time.Minute,
			Origins: []string{"https://a.example", "https://b.example", "https://c.example"},
			Open:    &open,
			Size:    2 << 20,
		},
		Cooks: []cook{{Name: "A", Knives: 3, Share: 0.25, PIN: "a"}, {Name: "B", Knives: 3, PIN: "$x${HOME}"}},
		Notes: &notes,
		Own:   preset{Word: "word", Other: "of the word"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("loaded (-want +got):\n%s", diff)
	}
}

// A variable of a key replaces a short form and an invalid value. An unknown variable changes nothing.
func TestAVariableReplacesTheValueOfTheFile(t *testing.T) {
	t.Parallel()
	got := mustLoad(t, "http: {wait: soon}\nown: word\n", "LARDER_HTTP_WAIT=5s", "LARDER_OWN_OTHER=o")
	if want := (preset{Other: "o"}); got.Own != want || got.HTTP.Wait != 5*time.Second {
		t.Errorf("read %+v, want %+v", got, want)
	}
	got = mustLoad(t, "own: word\n", "LARDER_OWN_OTHERS=o", "LARDER_COOKS_0_NAMES=x")
	if want := (preset{Word: "word", Other: "of the word"}); got.Own != want || got.Cooks != nil {
		t.Errorf("with unknown variables: read %+v, want %+v", got, want)
	}
}

// A hostile file costs little: levels have a limit, and aliases are not followed.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	_, l := load(t, "notes: "+strings.Repeat("[", 1<<20))
	if text := l.problems.sorted().Error(); !strings.HasPrefix(text, "larder.yaml:1:10008: invalid YAML: exceeded max depth") {
		t.Errorf("deep lists: %s", text)
	}
	bomb := []byte("http: &a0 [x, x]\n")
	for i := range 60 {
		bomb = fmt.Appendf(bomb, "k%d: &a%d [*a%d, *a%d, *a%d]\n", i, i+1, i, i, i)
	}
	if _, l := load(t, string(bomb)+"cooks: *a60\n"); len(l.problems) != 62 {
		t.Errorf("%d problems of aliases, want one for each key:\n%v", len(l.problems), l.problems.sorted())
	}
}

func TestEnvironmentProblems(t *testing.T) {
	t.Parallel()
	wantProblems(t, "", []string{"LARDER_HTTP_WAIT=soon", "LARDER_COOKS_2_NAME=C", "LARDER_HTTP=x"},
		"environment LARDER_COOKS_2_NAME: cooks[2]: there is no such element: the list has 0, the next index is 0",
		"environment LARDER_HTTP: http: this is a section: set its keys, one variable each",
		`environment LARDER_HTTP_WAIT: http.wait: invalid duration "soon": write a number and a unit, such as 500ms, 30s, 2m or 24h`,
	)
}

// A variable cannot set a key inside a value of another kind, which is the only error.
func TestAVariableInsideAnotherKindOfValue(t *testing.T) {
	t.Parallel()
	wantProblems(t, "http: 5\ncooks: {name: a}\n", []string{"LARDER_HTTP_WAIT=5s", "LARDER_COOKS_0_NAME=C"},
		`larder.yaml:1:7: http: must be a section of keys and values, such as "key: value", not a single value`,
		"larder.yaml:2:8: cooks: must be a list, not a section",
	)
}

func TestUnknownVariablesWarn(t *testing.T) {
	t.Parallel()
	_, l := load(t, "", "LARDER_HTTP_FOG=a", "LARDER_HTTP_LISTN=a", "LARDER_CONFIG=a", "LARDER_HTTP_SERVICE_HOST=10.0.0.1", "LARDER_HTTP_PORT_80_TCP_ADDR=10.0.0.1")
	want := []string{
		"environment LARDER_HTTP_FOG is not a setting and is ignored", // too different for a guess
		"environment LARDER_HTTP_LISTN is not a setting and is ignored; did you mean LARDER_HTTP_LISTEN?",
	}
	if diff := cmp.Diff(want, l.warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pin")
	if err := os.WriteFile(file, []byte("from file\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		text string
		env  []string
		want string
	}{
		"by value":                {"pin: plain", nil, "plain"},
		"by variable":             {"pin: a-${PIN}-${PIN}", []string{"PIN=7"}, "a-7-7"},
		"escaped":                 {"pin: $${PIN}$", nil, "${PIN}$"},
		"by file":                 {"pin_file: " + file, nil, "from file"},
		"environment over value":  {"pin: plain", []string{"LARDER_COOKS_0_PIN=${env}"}, "${env}"},
		"environment over file":   {"pin_file: /no/such/file", []string{"LARDER_COOKS_0_PIN=env"}, "env"},
		"file of the environment": {"pin: plain", []string{"LARDER_COOKS_0_PIN_FILE=" + file}, "from file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := mustLoad(t, "cooks:\n- "+tc.text, tc.env...)
			if got := k.Cooks[0].PIN; got != tc.want {
				t.Errorf("pin %q, want %q", got, tc.want)
			}
		})
	}
}

func TestSecretProblems(t *testing.T) {
	t.Parallel()
	wantProblems(t, `cooks:
- pin: ${NOBODY}
- pin: ${OPEN
- {pin: a, pin_file: b}
- pin_file: /no/such/file
`, nil,
		"larder.yaml:2:8: cooks[0].pin: the environment variable NOBODY is not set: set it, or use a file with pin_file",
		"larder.yaml:3:8: cooks[1].pin: ${ without }: write ${NAME}, or $${ for a literal ${",
		"larder.yaml:4:22: cooks[2].pin: set both by value (larder.yaml:4:9) and by pin_file: remove one of them",
		"larder.yaml:5:13: cooks[3].pin_file: cannot read the secret: open /no/such/file: no such file or directory",
	)
	wantProblems(t, "cooks: [{pin: a}]", []string{"LARDER_COOKS_0_PIN=b", "LARDER_COOKS_0_PIN_FILE=c"},
		"environment LARDER_COOKS_0_PIN_FILE: cooks[0].pin: set both by value (environment LARDER_COOKS_0_PIN) and by pin_file: remove one of them")
}

func TestAVariableBelowASecretDoesNotShowIt(t *testing.T) {
	t.Parallel()
	_, l := load(t, "cooks: [{pin: s3cret}]", "LARDER_COOKS_0_PIN_FIEL=pin.txt")
	want := []string{"environment LARDER_COOKS_0_PIN_FIEL is not a setting and is ignored; did you mean LARDER_COOKS_0_PIN_FILE?"}
	if diff := cmp.Diff(want, l.warnings); diff != "" || len(l.problems) != 0 {
		t.Errorf("problems %v, warnings (-want +got):\n%s", l.problems, diff)
	}
}

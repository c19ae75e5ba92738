package configs

import (
	"reflect"
	"slices"
	"testing"
)

// Limits is a struct that sections embed.
type Limits struct {
	Lines int    `yaml:"lines"`
	Token string `yaml:"token" secret:"true"`
}

// Keys of an embedded struct are at the level of the embedding struct, in the order of
// its fields.
func TestFieldsOf_Inline(t *testing.T) {
	t.Parallel()
	type section struct {
		First  string `yaml:"first"`
		Limits `yaml:",inline"`
		Last   string `yaml:"last"`
		hidden string
	}
	names := sectionKeys(reflect.TypeFor[section]())
	if want := []string{"first", "lines", "token", "token_file", "last"}; !slices.Equal(names, want) {
		t.Errorf("keys %v, want %v", names, want)
	}
	got, l := section{hidden: "h"}, newLoader("larder.yaml", nil)
	l.read([]byte("first: a\nlines: 3\ntoken: b\nlast: c\n"), reflect.ValueOf(&got).Elem())
	if want := (section{
		First:  "a",
		Limits: Limits{Lines: 3, Token: "b"},
		Last:   "c",
		hidden: "h",
	}); got != want || len(l.problems) > 0 {
		t.Errorf("read %+v with problems %v, want %+v", got, l.problems, want)
	}
}

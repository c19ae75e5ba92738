package configs

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A wrong combination of the settings of durability is reported at its place (policy O14b). An environment variable counts too.
func TestDurabilityProblems_O14b(t *testing.T) {
	t.Parallel()
	const needs = "ordering.durability: replicas needs ordering.wait_replicas of at least 1"
	for name, test := range map[string]struct {
		ordering string
		env      []string
		want     []string // none: valid
	}{
		"no wait_replicas":       {"durability: replicas", nil, []string{"larder.yaml:4:24: " + needs}},
		"wait_replicas 0":        {"durability: replicas, wait_replicas: 0", nil, []string{"larder.yaml:4:24: " + needs}},
		"allow_non_durable":      {"durability: replicas, allow_non_durable: true", nil, []string{"larder.yaml:4:24: " + needs}},
		"negative wait_replicas": {"wait_replicas: -1", nil, []string{"larder.yaml:4:27: ordering.wait_replicas: must not be negative"}},
		"unknown durability":     {"durability: replica", nil, []string{`larder.yaml:4:24: ordering.durability: unknown value "replica"; did you mean "replicas"? (valid: disk, replicas)`}},
		"by replicas":            {"durability: replicas, wait_replicas: 1", nil, nil},
		"by the environment":     {"durability: replicas", []string{"LARDER_ORDERING_WAIT_REPLICAS=1"}, nil},
		"disk":                   {"durability: disk, wait_replicas: 0", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := connection + "ordering: {" + test.ordering + "}\n"
			if len(test.want) == 0 {
				if _, err := Parse("larder.yaml", []byte(text), test.env); err != nil {
					t.Errorf("Parse: %v", err)
				}
				return
			}
			if diff := cmp.Diff(test.want, problemsOf(t, text, test.env...)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

package cli

import (
	"net/http"
	"strings"
	"testing"

	"larder.local/internal/testkit/clitest"
)

func TestColoursOnlyWhereTheyAreWanted(t *testing.T) {
	t.Parallel()
	base := clitest.Daemon(t, map[string]http.HandlerFunc{
		"GET /readyz": clitest.Says(200, `{"status":"degraded","parts":{"redis":{"ok":false,"msg":"away"}}}`), "GET /v1/restaurants": rows(),
	})
	const escape = "\x1b["
	for name, tc := range map[string]struct {
		command command
		args    []string
		out     bool
	}{
		"on a terminal":            {command{outTerminal: true}, nil, true},
		"an empty NO_COLOR":        {command{outTerminal: true, env: []string{"NO_COLOR="}}, nil, true},
		"into a file":              {command{}, nil, false},
		"NO_COLOR":                 {command{outTerminal: true, env: []string{"NO_COLOR=1"}}, nil, false},
		"TERM=dumb":                {command{outTerminal: true, env: []string{"TERM=dumb"}}, nil, false},
		"JSON":                     {command{outTerminal: true}, []string{"--json"}, false},
		"errors alone are watched": {command{terminal: true}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := tc.command.run(t, append([]string{"status", "--url", base}, tc.args...)...)
			if strings.Contains(got.Out, escape) != tc.out || !strings.Contains(got.Out, "degraded") {
				t.Errorf("status prints %q", got.Out)
			}
		})
	}
	for name, tc := range map[string]struct {
		command command
		want    bool
	}{
		"on a terminal": {command{terminal: true}, true},
		"into a file":   {command{outTerminal: true}, false},
		"NO_COLOR":      {command{terminal: true, env: []string{"NO_COLOR=1"}}, false},
	} {
		if got := tc.command.run(t, "status", "--url", "http://127.0.0.1:1"); strings.Contains(got.Err, escape) != tc.want {
			t.Errorf("an error, %s: %q", name, got.Err)
		}
	}
}

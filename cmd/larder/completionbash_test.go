package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"larder/internal/testkit/clitest"
)

// bashCompletes defines the one function of the package bash-completion that the
// script needs, and prints the completions of the Tab key.
const bashCompletes = `
_get_comp_words_by_ref() {
  while [ $# -gt 0 ]; do case $1 in -n) shift 2;; *) break;; esac; done
  words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=${COMP_WORDS[COMP_CWORD]}; prev=${COMP_WORDS[COMP_CWORD-1]}
}
source <(larder completion bash) || exit 1
complete -p larder || exit 1
COMP_WORDS=(larder sync --url "$1" nor); COMP_CWORD=4; COMP_LINE="larder sync --url $1 nor"; COMP_POINT=${#COMP_LINE}; COMP_TYPE=9
__start_larder
printf 'offered %s\n' "${COMPREPLY[@]}"
`

func TestCompletionInBash(t *testing.T) {
	t.Parallel()
	base := clitest.Daemon(t, map[string]http.HandlerFunc{
		"GET /v1/restaurants": clitest.Says(200, `{"result":[{"id":"north","name":"north"},{"id":"south","name":"south"}],"next":null}`),
	})
	shell := exec.CommandContext(t.Context(), "bash", "-c", bashCompletes, "bash", base)
	shell.Env = append(os.Environ(), "PATH="+filepath.Dir(built)+":"+os.Getenv("PATH"))
	out, err := shell.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "-F __start_larder larder\n") || !strings.HasSuffix(string(out), "\noffered north\n") {
		t.Errorf("bash: %v\n%s\nwant a completion for larder, and north offered", err, out)
	}
	for shell, begins := range map[string]string{"zsh": "#compdef larder", "fish": "# fish completion for larder"} {
		if script := must(t, "completion", shell); !strings.HasPrefix(script, begins) {
			t.Errorf("completion %s begins with %.40q, want %q", shell, script, begins)
		}
	}
}

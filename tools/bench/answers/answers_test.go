package answers_test

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larder.local/tools/bench/answers"
)

func TestReadGivesWhatWasWritten(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "answers.json")
	want := []answers.Answer{
		{Path: "/a", Status: 200, Header: [][2]string{{"Etag", `W/"1-a"`}, {"Vary", "Origin"}, {"Vary", "Accept-Encoding"}}, File: "body"},
		{Path: "/b", Status: 304, Header: [][2]string{}},
	}
	if err := answers.Write(file, want); err != nil {
		t.Fatal(err)
	}
	got, err := answers.Read(file)
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("%v\n%s", err, cmp.Diff(want, got))
	}
	if got[0].ETag() != `W/"1-a"` || got[1].ETag() != "" {
		t.Errorf("ETags %q and %q", got[0].ETag(), got[1].ETag())
	}
	if _, err := answers.Read(file + ".none"); err == nil {
		t.Error("a file that is not there was read")
	}
}

func TestWireIsAnAnswer(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(file, []byte("\x1f\x8bbody"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, a := range []answers.Answer{
		{Status: 200, Header: [][2]string{{"Etag", `W/"1-a"`}}, File: file},
		{Status: 200, Header: [][2]string{{"Etag", `W/"1-a"`}}},
		{Status: 304, Header: [][2]string{{"Etag", `W/"1-a"`}}},
	} {
		wire, err := a.Wire("Sat, 21 Nov 2026 10:00:00 GMT")
		if err != nil {
			t.Fatal(err)
		}
		reader := bufio.NewReader(bytes.NewReader(wire))
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			t.Fatalf("%q: %v", wire, err)
		}
		got, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		want, _ := a.Body()
		if err != nil || !bytes.Equal(got, want) || response.StatusCode != a.Status || response.Header.Get("ETag") != `W/"1-a"` || response.Header.Get("Date") == "" {
			t.Errorf("%q: %v", wire, err)
		}
		if _, err := reader.ReadByte(); err != io.EOF {
			t.Errorf("%q: more than one answer", wire)
		}
	}
	if _, err := (answers.Answer{Status: 200, File: file + ".none"}).Wire(""); err == nil {
		t.Error("an answer without its body was made")
	}
}

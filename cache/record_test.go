package cache

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"larder.local/internal/menu"
)

func TestRecordReadsBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		at := time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "at")).UTC()
		ids := rapid.SliceOf(rapid.String().Filter(func(s string) bool { return strings.ToValidUTF8(s, "") == s }))
		want := Version{
			Restaurant: "bistro",
			Name:       rapid.StringMatching(`[\p{L} ]*`).Draw(t, "name"),
			Version:    rapid.Int64Min(1).Draw(t, "version"),
			Content:    rapid.StringMatching(`[0-9a-f]{64}`).Draw(t, "content"),
			Stops:      menu.Stops{Products: ids.Draw(t, "products"), Ingredients: ids.Draw(t, "ingredients")},
			SyncedAt:   at,
			CheckedAt:  at,
			ModifiedAt: afterLast(at, at.Add(rapid.SampledFrom([]time.Duration{-time.Hour, -time.Millisecond, 0}).Draw(t, "before"))),
			Counts:     menu.Counts{Products: 3},
			Bytes:      7,
		}
		raw, err := encodeRecord(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeRecord("bistro", raw)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

// Other instances, also of other versions of larder, read the same records.
func TestRecordHasTheSameBytes(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 1e8, time.UTC)
	v := Version{
		Restaurant: "bistro", Version: 7, Content: "ab", Name: "Fish & <Chips>", Stops: menu.Stops{Products: []string{"d\u2028"}},
		SyncedAt: at, CheckedAt: at.Add(time.Hour), ModifiedAt: at, Counts: menu.Counts{Products: 3}, Bytes: 9, Published: "p", Held: true,
	}
	const first = `{"version":7,"content":"ab","name":"Fish \u0026 \u003cChips\u003e",` +
		`"stops":{"products":["d\u2028"],"ingredients":null},"syncedAt":"2026-03-01T12:00:00.100Z",` +
		`"counts":{"categories":0,"products":3,"available":0,"orderable":0},"bytes":9`
	whole := v
	whole.ModifiedAt, whole.ReadAt, whole.Source, whole.Settings = at.Add(time.Second), at, "a c", new(menu.DefaultSettings())
	for want, v := range map[string]Version{
		first + `}`: v,
		first + `,"modifiedAt":"2026-03-01T12:00:01.100Z","source":"a c","settings":{"MaxZeroNone":false,"StopListAnyValue":false,` +
			`"RefuseMissingExternalID":false,"MaxDepth":6},"readAt":"2026-03-01T12:00:00.100Z"}`: whole,
	} {
		if got, err := encodeRecord(v); err != nil || string(got) != want {
			t.Errorf("%s, %v\nwant %s", got, err, want)
		}
	}
}

func FuzzDecodeRecord(f *testing.F) {
	for _, seed := range []string{
		"", "{", "null", "[]", `{"version":1}`, `{"version":1,"content":"ab","syncedAt":"yesterday"}`,
		`{"version":-1,"content":"ab","syncedAt":"2026-03-01T12:00:00.000Z"}`,
		`{"version":9,"content":"ab","syncedAt":"2026-03-01T12:00:00.000Z","stops":{"products":["a"]},"ready":{"sum":"x"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, err := decodeRecord("bistro", raw)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("%q: %v, want ErrCorrupt", raw, err)
			}
			return
		}
		if v.Version < 1 || v.Content == "" || v.Restaurant != "bistro" || v.SyncedAt.IsZero() && !strings.Contains(string(raw), "0001") {
			t.Fatalf("%q was read as %+v", raw, v)
		}
	})
}

func FuzzReadNotice(f *testing.F) {
	for _, seed := range []string{"", "1", "1 bistro", "0 bistro", "-4 x", "x y", "1 ", "9223372036854775808 x", "1 a b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, payload string) {
		restaurant, version, ok := readNotice(payload)
		if !ok {
			return
		}
		if version < 0 || restaurant == "" {
			t.Fatalf("%q was read as %q, %d", payload, restaurant, version)
		}
		if id, n, ok := readNotice(notice(restaurant, version)); !ok || id != restaurant || n != version {
			t.Fatalf("%q: %q, %d became %q, %d", payload, restaurant, version, id, n)
		}
	})
}

func FuzzReadHistory(f *testing.F) {
	f.Add("42 abc\n41 def\nx\n\n7")
	f.Fuzz(func(t *testing.T, list string) {
		lines := strings.Split(list, "\n")
		entries := readHistory(lines)
		if len(entries) > len(lines) {
			t.Fatalf("%d entries of %d lines", len(entries), len(lines))
		}
		var again []string
		for _, entry := range entries {
			again = append(again, entry.String())
		}
		if !slices.Equal(readHistory(again), entries) {
			t.Fatalf("%q: %v does not read back", list, entries)
		}
	})
}

func TestStatusOfInvalidFields(t *testing.T) {
	t.Parallel()
	for name, values := range map[string][]any{
		"nothing": nil, "no strings": {1, 2, 3, 4, 5, 6, 7, 8, 9}, "absent": {nil, nil, nil, nil, nil, nil, nil, nil, nil},
		"unreadable":     {"x", "", "dawn", "noon", "", "yes", "", "dusk", catalogueForm},
		"another format": {"3", "ab", menu.FormatTime(time.Now()), "", "failed", "1", "", "", "f1"},
		"no format":      {"3", "ab", menu.FormatTime(time.Now()), "", "failed", "1", "", ""},
	} {
		if diff := cmp.Diff(Version{Restaurant: "bistro"}, readStatus("bistro", values)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
	at := time.Date(2026, 3, 1, 12, 0, 0, 5e6, time.UTC)
	read := readStatus("bistro", []any{"3", "ab", menu.FormatTime(at), menu.FormatTime(at.Add(time.Hour)), "failed", "1", "p", menu.FormatTime(at), catalogueForm})
	got := Version{Version: 3}.With(read)
	if !read.SyncedAt.Equal(at) || !got.CheckedAt.Equal(at.Add(time.Hour)) || got.LastOutcome != "failed" || !got.Held ||
		got.Published != "p" || !got.PublishedAt.Equal(at) {
		t.Errorf("read %+v, got %+v", read, got)
	}
}

func TestUnpackRejectsBrokenValues(t *testing.T) {
	t.Parallel()
	p := newPacker()
	content := []byte(strings.Repeat("menu ", 1000))
	packed := p.pack(content)
	if got, err := p.unpack(packed); err != nil || string(got) != string(content) {
		t.Errorf("compressed and decompressed: %d bytes, %v", len(got), err)
	}
	for name, broken := range map[string][]byte{"cut": packed[:len(packed)/2], "no zstd": content} {
		if _, err := p.unpack(broken); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v, want ErrCorrupt", name, err)
		}
	}
}

func TestBrokenValuesAreNotUnpacked(t *testing.T) {
	t.Parallel()
	p := newPacker()
	packed := p.pack([]byte("a menu"))
	for name, broken := range map[string][]byte{"cut": packed[:len(packed)-3], "not compressed": []byte("a menu")} {
		if _, err := p.unpack(broken); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v, want ErrCorrupt", name, err)
		}
	}
}

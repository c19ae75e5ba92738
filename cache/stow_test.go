package cache

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"larder/internal/menu"
	"larder/internal/sandbox"
)

// generatedContent is the content of a menu of so many dishes.
func generatedContent(tb testing.TB, dishes int) []byte {
	tb.Helper()
	_, published, err := menu.DecodePublished(sandbox.Generate{Products: dishes, Seed: 1}.Menu(0))
	if err != nil {
		tb.Fatal(err)
	}
	return published.Content
}

func TestWhatIsStowedComesBack(t *testing.T) {
	t.Parallel()
	p := newPacker()
	content := generatedContent(t, 1000)
	rapid.Check(t, func(t *rapid.T) {
		// Some of it is cut out, and some doubled, so that all behind it moves.
		at, to := rapid.IntRange(0, len(content)).Draw(t, "from"), rapid.IntRange(0, len(content)).Draw(t, "to")
		size := rapid.IntRange(1, 10_000).Draw(t, "size")
		piece := content[at:min(at+size, len(content))]
		changed := slices.Concat(content[:to], piece, content[to:])
		before := p.stow(content[:rapid.IntRange(0, len(content)).Draw(t, "before")], stowed{})
		if len(before.parts) > 0 && rapid.Bool().Draw(t, "broken") {
			if rapid.Bool().Draw(t, "frames") {
				before.frames[rapid.IntRange(0, len(before.frames)-1).Draw(t, "byte")] ^= 1
			} else {
				before.parts[rapid.IntRange(0, len(before.parts)-1).Draw(t, "byte")] ^= 1
			}
		}
		s := p.stow(changed, before)
		got, err := p.unstow(s)
		if err != nil || !bytes.Equal(got, changed) || s.size() != len(changed) {
			t.Fatalf("%d bytes of %d, %v; it says %d", len(got), len(changed), err, s.size())
		}
		// A larder that knows of no parts reads it all the same.
		if got, err := p.unpack(s.frames); err != nil || !bytes.Equal(got, changed) {
			t.Fatalf("as one: %d bytes of %d, %v", len(got), len(changed), err)
		}
	})
}

func TestFramesOfTheContentBeforeAreTakenOver(t *testing.T) {
	t.Parallel()
	p := newPacker()
	content := generatedContent(t, 1000)
	before := p.stow(content, stowed{})
	for name, change := range map[string]func() []byte{
		"nothing": func() []byte { return content },
		"a longer description": func() []byte {
			at := bytes.LastIndex(content, []byte(`"description":"`)) + len(`"description":"`)
			return slices.Concat(content[:at], []byte("New: "), content[at:])
		},
		"a dish that is gone": func() []byte {
			at := bytes.LastIndex(content, []byte(`},{`))
			end := bytes.LastIndex(content[:at], []byte(`},{`))
			return slices.Concat(content[:end], content[at:])
		},
	} {
		s := p.stow(change(), before)
		known, taken := before.known(), 0
		for at := 0; at < len(s.parts); at += partEntry {
			one := readPart(s.parts[at:])
			if _, again := known[partKey{one.sum, one.size}]; again {
				taken++
			}
		}
		if parts := len(s.parts) / partEntry; parts < 4 || taken < parts-2 || (name == "nothing") != (taken == parts) {
			t.Errorf("%s: %d of %d parts were taken over", name, taken, parts)
		}
	}
}

// What is damaged in Redis must not get into the next content.
func TestADamagedFrameIsNotTakenOver(t *testing.T) {
	t.Parallel()
	p := newPacker()
	content := generatedContent(t, 400)
	before := p.stow(content, stowed{})
	sound := bytes.Clone(before.frames)
	for _, at := range []int{0, len(sound) / 2, len(sound) - 1} {
		before.frames = bytes.Clone(sound)
		before.frames[at] ^= 0x10
		if s := p.stow(content, before); !bytes.Equal(s.frames, sound) {
			t.Errorf("byte %d: %s", at, cmp.Diff(len(sound), len(s.frames)))
		}
	}
}

func TestPartsThatSayTooMuch(t *testing.T) {
	t.Parallel()
	p := newPacker()
	content := generatedContent(t, 60)
	s := p.stow(content, stowed{})
	for name, parts := range map[string][]byte{
		"none":         nil,
		"half of one":  s.parts[:partEntry/2],
		"four GiB":     part{size: 1<<32 - 1, end: 1<<32 - 1}.append(nil),
		"backwards":    part{size: 1, end: 5}.append(part{size: 1, end: 9}.append(nil)),
		"a few bytes":  []byte("parts"),
		"some of them": s.parts[:partEntry],
	} {
		told := stowed{frames: s.frames, parts: parts}
		if got, err := p.unstow(told); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s: %d bytes of %d, %v", name, len(got), len(content), err)
		}
		if again := p.stow(content, told); !bytes.Equal(again.frames, s.frames) {
			t.Errorf("%s: packed otherwise", name)
		}
	}
	if _, err := p.unstow(stowed{frames: []byte("frames"), parts: s.parts}); err == nil {
		t.Error("what is no frame was unpacked")
	}
}

package express

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"runtime/metrics"
	"slices"
	"testing"
	"time"
	"weak"

	"golang.org/x/sys/unix"
)

// body makes one of its own bytes.
func body(size int, seed byte) []byte {
	made := make([]byte, size)
	for i := range made {
		made[i] = seed + byte(i%251)
	}
	return made
}

// lay asks for a body so often that it gets a copy.
func lay(t *testing.T, s *shelf, body []byte) *copied {
	t.Helper()
	for i := range shelfAsked {
		if file := s.take(body); file != nil {
			if i < shelfAsked-1 {
				t.Fatalf("a copy when it was asked for %d times", i+1)
			}
			return file
		}
	}
	return nil
}

// content is what a file holds.
func content(t *testing.T, file *copied) []byte {
	t.Helper()
	got := make([]byte, file.size+1)
	n, err := unix.Pread(file.fd, got, 0)
	if err != nil {
		t.Fatal(err)
	}
	return got[:n]
}

func TestACopyIsTheBody(t *testing.T) {
	t.Parallel()
	var s shelf
	defer s.close()
	bodies := [][]byte{body(shelfLeast, 1), body(shelfLeast, 2), body(shelfLeast+1, 3)}
	for _, get := range []func([]byte) *copied{
		func(b []byte) *copied { return lay(t, &s, b) },
		s.take,
	} {
		for i, b := range bodies {
			file := get(b)
			if file == nil || !bytes.Equal(content(t, file), b) {
				t.Fatalf("body %d: another copy, or none", i)
			}
			s.release(file)
		}
	}
	if small := lay(t, &s, body(shelfLeast-1, 4)); small != nil {
		t.Error("a small body has a copy")
	}
	if part := lay(t, &s, bodies[2][:shelfLeast]); part != nil {
		t.Error("a part of a body has the copy of the whole")
	}
	runtime.KeepAlive(bodies)
}

// There are no more files and bytes than the bounds; those that are sent stay.
func TestTheShelfIsBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ size, most int }{
		"files": {shelfLeast, shelfFiles},
		"bytes": {shelfBytes / 4, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s shelf
			defer s.close()
			held := body(c.size, 0)
			sent := lay(t, &s, held)
			bodies := [][]byte{held}
			for i := range c.most + 2 {
				b := body(c.size, byte(i))
				bodies = append(bodies, b)
				file := lay(t, &s, b)
				if file == nil {
					t.Fatalf("no copy of body %d", i)
				}
				s.release(file)
				if len(s.files) > c.most || s.bytes != int64(len(s.files)*c.size) {
					t.Fatalf("%d files of %d bytes", len(s.files), s.bytes)
				}
			}
			if sent == nil || !bytes.Equal(content(t, sent), held) {
				t.Error("the file that is sent was closed")
			}
			var all []*copied
			for _, b := range bodies { // all are sent: nothing can go
				if file := s.take(b); file != nil {
					all = append(all, file)
				}
			}
			if more := lay(t, &s, body(c.size, 99)); more != nil {
				t.Error("a copy beyond the bound")
			}
			if len(all) != c.most {
				t.Errorf("%d files are held, want %d", len(all), c.most)
			}
		})
	}
}

// When a body is no more, its file is closed.
func TestTheShelfForgets(t *testing.T) {
	t.Parallel()
	var s shelf
	defer s.close()
	s.release(lay(t, &s, body(shelfLeast, 1)))
	count := func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.files)
	}
	if n := count(); n != 1 {
		t.Fatalf("%d files", n)
	}
	for begun := time.Now(); count() > 0; runtime.GC() {
		if time.Since(begun) > 20*time.Second {
			t.Fatal("the file is still there")
		}
	}
}

// A body that makes room for others and comes back, over and over, is told of
// once when it is no more: nothing gathers meanwhile.
func TestABodyThatComesBackIsToldOfOnce(t *testing.T) { //nolint:paralleltest // counts what the whole process is told of
	const times, name = 200, "/gc/cleanups/queued:cleanups"
	queued := func() uint64 {
		sample := []metrics.Sample{{Name: name}}
		metrics.Read(sample)
		if sample[0].Value.Kind() != metrics.KindUint64 {
			t.Fatalf("the runtime no longer counts %s", name)
		}
		return sample[0].Value.Uint64()
	}
	var s shelf
	defer s.close()
	b := body(shelfLeast, 1)
	s.mu.Lock()
	key := weak.Make(&b[0])
	for range times {
		if s.put(key, b) == nil {
			t.Fatal("no copy")
		}
		s.drop(key)
	}
	s.put(key, b)
	s.mu.Unlock()
	before := queued()
	runtime.KeepAlive(b)
	count := func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.files)
	}
	for begun := time.Now(); count() > 0; runtime.GC() {
		if time.Since(begun) > 20*time.Second {
			t.Fatal("the file is still there")
		}
	}
	if told := queued() - before; told > times/2 {
		t.Errorf("the shelf is told %d times of one body", told)
	}
}

// A file that cannot be sent is not needed: the body is written.
func TestABodyIsWrittenWhereItsFileFails(t *testing.T) {
	t.Parallel()
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	theirs := os.NewFile(uintptr(ends[1]), "theirs")
	defer func() { _ = theirs.Close() }()
	want := body(shelfFirst+100, 7)
	c := &conn{}
	c.left = outgoing{head: slices.Clone(want[:shelfFirst]), body: want[shelfFirst:], file: &copied{fd: -1, size: len(want)}}
	done := c.hand(uintptr(ends[0]))
	if err := unix.Close(ends[0]); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(theirs)
	if !done || c.left.err != nil || c.left.sent != int64(len(want)) || err != nil || !bytes.Equal(got, want) {
		t.Errorf("done %v, %v; sent %d of %d, received %d, %v", done, c.left.err, c.left.sent, len(want), len(got), err)
	}
}

package express

import (
	"runtime"
	"sync"
	"unsafe"
	"weak"

	"golang.org/x/sys/unix"
)

const (
	shelfLeast = 384 << 10 // bodies below this gain nothing
	shelfFirst = 4 << 10   // of such a body goes out with the head
	shelfFiles = 32        // at once
	shelfBytes = 64 << 20  // of them together
	shelfAsked = 8         // a body is put there when it is sent so many times
)

// shelf holds copies of large bodies in files of memory. The kernel sends from
// such a file without copying: all sockets share its pages, where a write gives
// each socket some of its own, which fall out of the processor's cache before
// the client reads them.
//
// A copy stands for a body by the address of its first byte, which it does not
// keep alive: when the collector has freed the body, the file is closed.
type shelf struct {
	mu    sync.Mutex
	files map[weak.Pointer[byte]]*copied
	bytes int64
	turn  uint64
	asked [4 * shelfFiles]struct { // bodies without a copy, each at a place of its address
		body  weak.Pointer[byte]
		times int
	}
}

// copied is one file.
type copied struct {
	fd    int
	size  int
	users int    // those that send it
	turn  uint64 // when it was taken last
	told  runtime.Cleanup
}

// take gives the copy of a body, to be released; nil where there is none.
func (s *shelf) take(body []byte) *copied {
	if len(body) < shelfLeast || len(body) > shelfBytes/4 {
		return nil
	}
	key := weak.Make(&body[0])
	s.mu.Lock()
	defer s.mu.Unlock()
	file := s.files[key]
	if file == nil && s.often(key, body) && s.makeRoom(len(body)) {
		file = s.put(key, body)
	}
	if file == nil || file.size != len(body) {
		return nil
	}
	s.turn++
	file.turn = s.turn
	file.users++
	return file
}

// release gives a copy back.
func (s *shelf) release(file *copied) {
	s.mu.Lock()
	defer s.mu.Unlock()
	file.users--
}

// often counts a body, and is true each time that it was sent shelfAsked times.
func (s *shelf) often(key weak.Pointer[byte], body []byte) bool {
	address := uintptr(unsafe.Pointer(&body[0])) //nolint:gosec // G103: a number to find a place by
	place := &s.asked[(address>>13)%uintptr(len(s.asked))]
	if place.body != key {
		place.body, place.times = key, 0
	}
	place.times = (place.times + 1) % shelfAsked
	return place.times == 0
}

// makeRoom closes files that nobody sends, the longest unused first, until one
// of so many bytes fits.
func (s *shelf) makeRoom(size int) bool {
	for len(s.files) >= shelfFiles || s.bytes+int64(size) > shelfBytes {
		var oldest weak.Pointer[byte]
		var found *copied
		for key, file := range s.files {
			if file.users == 0 && (found == nil || file.turn < found.turn) {
				oldest, found = key, file
			}
		}
		if found == nil {
			return false
		}
		s.drop(oldest)
	}
	return true
}

// put makes the copy of a body; nil where the system refuses it.
func (s *shelf) put(key weak.Pointer[byte], body []byte) *copied {
	fd, err := unix.MemfdCreate("larder body", unix.MFD_CLOEXEC)
	if err != nil {
		return nil
	}
	for rest := body; len(rest) > 0; {
		n, err := unix.Write(fd, rest)
		if err != nil || n == 0 {
			_ = unix.Close(fd)
			return nil
		}
		rest = rest[n:]
	}
	if s.files == nil {
		s.files = map[weak.Pointer[byte]]*copied{}
	}
	file := &copied{fd: fd, size: len(body)}
	s.files[key] = file
	s.bytes += int64(file.size)
	file.told = runtime.AddCleanup(&body[0], s.forget, key)
	return file
}

// forget is told that a body is no more. Nobody sends it then.
func (s *shelf) forget(key weak.Pointer[byte]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(key)
}

// drop closes a file. The collector need tell nothing of its body any more: one
// that comes back again and again would gather a word to be told each time.
func (s *shelf) drop(key weak.Pointer[byte]) {
	file := s.files[key]
	if file == nil {
		return
	}
	delete(s.files, key)
	file.told.Stop()
	s.bytes -= int64(file.size)
	_ = unix.Close(file.fd)
}

// close closes every file, when no connection is left.
func (s *shelf) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.files {
		s.drop(key)
	}
}

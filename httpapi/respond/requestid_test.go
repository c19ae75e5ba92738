package respond

import "testing"

func TestRequestID(t *testing.T) {
	t.Parallel()
	for _, sane := range []string{"a", "0af7651916cd43dd8448eb211c80319c", "x:y/z=1,2", string(make128())} {
		if got := RequestIDFrom(sane); got != sane {
			t.Errorf("%q was replaced by %q", sane, got)
		}
	}
	for _, odd := range []string{"", " ", "a b", "a\nb", "é", "a\x7f", string(make128()) + "x"} {
		got := RequestIDFrom(odd)
		if got == odd || len(got) != 26 {
			t.Errorf("%q became %q, want a new one of 26 characters", odd, got)
		}
	}
}

func make128() []byte {
	text := make([]byte, 128)
	for i := range text {
		text[i] = 'x'
	}
	return text
}

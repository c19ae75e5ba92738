package menus

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"larder.local/cache/encoded"
)

// offer is one element of an Accept-Encoding header, as the test generates it.
type offer struct {
	coding string // in the client's spelling
	weight string // "" for no weight
}

// qvalue is the grammar of RFC 9110, section 12.4.2.
var qvalue = regexp.MustCompile(`^(0(\.[0-9]{0,3})?|1(\.0{0,3})?)$`)

// value returns the weight in thousandths. An invalid weight makes it 0.
func (o offer) value() int {
	if o.weight == "" {
		return 1000
	}
	if !qvalue.MatchString(o.weight) {
		return 0
	}
	whole, fraction, _ := strings.Cut(o.weight, ".")
	n := 0
	if _, err := fmt.Sscanf(whole+(fraction + "000")[:3], "%d", &n); err != nil {
		return 0
	}
	return n
}

// byTheRFC returns the expected encoding for these offers, written directly from RFC 9110, section
// 12.5.3. Each encoding uses the offer that names it, otherwise that of "*", otherwise none.
// Identity without an offer is acceptable with the lowest weight.
func byTheRFC(offers []offer) encoded.Encodings {
	valued := func(e encoded.Encoding) (value int, named bool) {
		star := -1
		value = -1
		for _, o := range offers {
			name := strings.ToLower(o.coding)
			switch {
			case name == e.String(), name == "x-gzip" && e == encoded.Gzip:
				value = o.value() // the last of two offers counts
			case name == "*":
				star = o.value()
			}
		}
		if value < 0 {
			value = star
		}
		return value, value >= 0
	}
	best := 0
	for _, e := range []encoded.Encoding{encoded.Gzip, encoded.Brotli, encoded.Zstd} {
		value, _ := valued(e)
		best = max(best, value)
	}
	identity, named := valued(encoded.Identity)
	switch {
	case named && identity > best:
		return encoded.Accept(encoded.Identity)
	case best > 0:
		var set encoded.Encodings
		for _, e := range []encoded.Encoding{encoded.Gzip, encoded.Brotli, encoded.Zstd} {
			if value, _ := valued(e); value == best {
				set |= encoded.Accept(e)
			}
		}
		return set
	case named && identity == 0:
		return 0
	default:
		return encoded.Accept(encoded.Identity)
	}
}

func TestNegotiationIsAsTheRFCSays(t *testing.T) {
	t.Parallel()
	space := rapid.SampledFrom([]string{"", " ", "\t", "  "})
	rapid.Check(t, func(t *rapid.T) {
		offers := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) offer {
			return offer{
				rapid.SampledFrom([]string{"gzip", "GZIP", "x-gzip", "br", "Br", "zstd", "ZStd", "identity", "Identity", "*", "deflate", "compress", "g"}).Draw(t, "coding"),
				rapid.SampledFrom([]string{"", "", "", "0", "1", "0.5", "0.50", "0.501", "0.", "1.", "0.000", "1.000", "0.001", "1.001", "2", "-1", "x", "0.1234", ".5", "00", "1.0000", "0,5", "0.5 5"}).Draw(t, "weight"),
			}
		}), 0, 6).Draw(t, "offers")
		var header strings.Builder
		for i, o := range offers {
			if o.weight == "0,5" { // a comma ends the element, so the rest is another element
				offers[i].weight = "0"
			}
			if i > 0 {
				header.WriteString(space.Draw(t, "s") + "," + space.Draw(t, "s"))
			}
			header.WriteString(o.coding)
			if o.weight != "" {
				header.WriteString(space.Draw(t, "s") + ";" + space.Draw(t, "s") + rapid.SampledFrom([]string{"q", "Q"}).Draw(t, "q") + "=" + o.weight)
			}
		}
		if got, want := AcceptedEncodings(header.String()), byTheRFC(offers); got != want {
			t.Fatalf("%q: got %q, want %q", header.String(), got, want)
		}
	})
}

// The response always has an encoding that the client accepts. A 406 always has its reason in the
// header.
func FuzzAcceptEncoding(f *testing.F) {
	for _, seed := range []string{"", "gzip, deflate, br, zstd", "*;q=0", "identity;q=0, *;q=0.3", "br;q=1.000;x, gzip ;Q=0.5", ",;,=;q=", "gzip;q=\x00", "z\u017ftd"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		got := AcceptedEncodings(header)
		if got != AcceptedEncodings(header+" ,") {
			t.Errorf("%q: an empty element makes a difference", header)
		}
		folded := strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' {
				r -= 'a' - 'A'
			}
			return r
		}, header)
		if got != AcceptedEncodings(folded) {
			t.Errorf("%q: case makes a difference", header)
		}
		switch {
		case got == 0:
			if !strings.Contains(header, "*") && !strings.Contains(strings.ToLower(header), "identity") {
				t.Errorf("%q refuses nothing and gets nothing", header)
			}
		case got.Has(encoded.Identity) && got != encoded.Accept(encoded.Identity):
			t.Errorf("%q: identity beside %q", header, got)
		}
		for _, e := range []encoded.Encoding{encoded.Gzip, encoded.Brotli, encoded.Zstd} {
			if got.Has(e) && !strings.Contains(header, "*") && !strings.Contains(strings.ToLower(header), e.String()) {
				t.Errorf("%q: %s, which nobody asked for", header, e)
			}
			if refused := AcceptedEncodings(header + "," + e.String() + ";q=0"); refused.Has(e) {
				t.Errorf("%q: %s in spite of a refusal", header, e)
			}
		}
	})
}

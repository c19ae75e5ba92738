package httpapi

import (
	"net/http"
	"testing"
	"time"
)

func TestAcceptsGzip(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		header   []string
		gzip, ok bool
	}{
		"no header means identity":                 {nil, false, true},
		"an empty header means identity":           {[]string{""}, false, true},
		"gzip":                                     {[]string{"gzip"}, true, true},
		"x-gzip is gzip":                           {[]string{"x-gzip"}, true, true},
		"names are blind to case":                  {[]string{"GZip"}, true, true},
		"a browser's list":                         {[]string{"gzip, deflate, br, zstd"}, true, true},
		"two header lines are one list":            {[]string{"br", "gzip"}, true, true},
		"only codings that larder has not":         {[]string{"br, zstd"}, false, true},
		"any":                                      {[]string{"*"}, true, true},
		"gzip refused":                             {[]string{"gzip;q=0"}, false, true},
		"gzip refused, any taken":                  {[]string{"gzip;q=0, *"}, false, true},
		"identity preferred":                       {[]string{"gzip;q=0.5, identity;q=0.8"}, false, true},
		"gzip preferred":                           {[]string{"gzip;q=0.8, identity;q=0.5"}, true, true},
		"equal weights give gzip":                  {[]string{"identity, gzip"}, true, true},
		"a weight of 1 with zeros":                 {[]string{"gzip;q=1.000"}, true, true},
		"spaces around the weight":                 {[]string{"gzip ; q=0.001"}, true, true},
		"identity refused, gzip taken":             {[]string{"identity;q=0, gzip"}, true, true},
		"identity refused, nothing else":           {[]string{"identity;q=0"}, false, false},
		"all refused":                              {[]string{"*;q=0"}, false, false},
		"all refused but identity":                 {[]string{"*;q=0, identity"}, false, true},
		"all refused but gzip":                     {[]string{"gzip, *;q=0"}, true, true},
		"identity refused, any taken means gzip":   {[]string{"identity;q=0, *"}, true, true},
		"a malformed weight is no offer":           {[]string{"gzip;q=high"}, false, true},
		"a weight above 1 is no offer":             {[]string{"gzip;q=1.5"}, false, true},
		"a weight with four decimals is no offer":  {[]string{"gzip;q=0.1234"}, false, true},
		"a malformed weight of identity refuses":   {[]string{"identity;q=x"}, false, false},
		"a name that only begins like one is none": {[]string{"gzipped"}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gzip, ok := acceptsGzip(test.header)
			if gzip != test.gzip || ok != test.ok {
				t.Errorf("%q: got gzip %v, ok %v, want %v, %v", test.header, gzip, ok, test.gzip, test.ok)
			}
		})
	}
}

func TestAcceptsIdentity(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]bool{
		"": true, "gzip": true, "identity;q=0": false, "*;q=0": false, "*;q=0, identity;q=0.1": true, "*": true, "identity;q=0, *": false,
	} {
		if got := acceptsIdentity([]string{header}); got != want {
			t.Errorf("%q: got %v, want %v", header, got, want)
		}
	}
}

func TestNotModified(t *testing.T) {
	t.Parallel()
	const etag = `W/"42-1a2b3c4d"`
	modified := time.Date(2026, 3, 4, 5, 6, 7, 890_000_000, time.UTC)
	at := func(d time.Duration) string { return modified.Add(d).Format(http.TimeFormat) }
	for name, test := range map[string]struct {
		header http.Header
		want   bool
	}{
		"no condition":                        {http.Header{}, false},
		"the same tag":                        {http.Header{"If-None-Match": {etag}}, true},
		"the same tag as a strong one":        {http.Header{"If-None-Match": {`"42-1a2b3c4d"`}}, true},
		"another tag":                         {http.Header{"If-None-Match": {`W/"41-1a2b3c4d"`}}, false},
		"in a list":                           {http.Header{"If-None-Match": {`"x", W/"y,z" , W/"42-1a2b3c4d"`}}, true},
		"in a list without spaces":            {http.Header{"If-None-Match": {`"x","42-1a2b3c4d"`}}, true},
		"in a second line":                    {http.Header{"If-None-Match": {`"x"`, etag}}, true},
		"any":                                 {http.Header{"If-None-Match": {"*"}}, true},
		"a part of the tag":                   {http.Header{"If-None-Match": {`"42"`}}, false},
		"without quotes":                      {http.Header{"If-None-Match": {"42-1a2b3c4d"}}, false},
		"an open quote":                       {http.Header{"If-None-Match": {`"42-1a2b3c4d`}}, false},
		"empty":                               {http.Header{"If-None-Match": {""}}, false},
		"the tag decides over the time":       {http.Header{"If-None-Match": {`"x"`}, "If-Modified-Since": {at(time.Hour)}}, false},
		"since that second":                   {http.Header{"If-Modified-Since": {at(0)}}, true},
		"since later":                         {http.Header{"If-Modified-Since": {at(time.Hour)}}, true},
		"since earlier":                       {http.Header{"If-Modified-Since": {at(-time.Second)}}, false},
		"since a time that cannot be read":    {http.Header{"If-Modified-Since": {"yesterday"}}, false},
		"since a time in the oldest of forms": {http.Header{"If-Modified-Since": {modified.Add(time.Second).Format(time.ANSIC)}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := notModified(test.header, etag, modified); got != test.want {
				t.Errorf("%v: got %v, want %v", test.header, got, test.want)
			}
		})
	}
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	for _, sane := range []string{"a", "0af7651916cd43dd8448eb211c80319c", "x:y/z=1,2", string(make128())} {
		if got := requestID(sane); got != sane {
			t.Errorf("%q was replaced by %q", sane, got)
		}
	}
	for _, odd := range []string{"", " ", "a b", "a\nb", "é", "a\x7f", string(make128()) + "x"} {
		got := requestID(odd)
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

package menus

import (
	"net/http"
	"testing"
	"time"

	"larder.local/cache/encoded"
)

const allPacked = encoded.Encodings(1<<encoded.Gzip | 1<<encoded.Brotli | 1<<encoded.Zstd)

func TestAcceptedEncodings(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		header string
		want   encoded.Encodings
	}{
		"no header means identity":                  {"", encoded.Accept(encoded.Identity)},
		"gzip":                                      {"gzip", encoded.Accept(encoded.Gzip)},
		"x-gzip is gzip":                            {"x-gzip", encoded.Accept(encoded.Gzip)},
		"br":                                        {"br", encoded.Accept(encoded.Brotli)},
		"zstd":                                      {"zstd", encoded.Accept(encoded.Zstd)},
		"names are blind to case":                   {"GZip, BR", encoded.Accept(encoded.Gzip, encoded.Brotli)},
		"a browser's list":                          {"gzip, deflate, br, zstd", allPacked},
		"white space, and none":                     {"\tgzip ,br;q=1\t,  zstd ; Q=1.0", allPacked},
		"empty elements":                            {",, gzip ,", encoded.Accept(encoded.Gzip)},
		"only codings that larder has not":          {"deflate, compress", encoded.Accept(encoded.Identity)},
		"any":                                       {"*", allPacked},
		"any but one":                               {"br;q=0, *", encoded.Accept(encoded.Gzip, encoded.Zstd)},
		"gzip refused":                              {"gzip;q=0", encoded.Accept(encoded.Identity)},
		"gzip refused, any taken":                   {"gzip;q=0, *", encoded.Accept(encoded.Brotli, encoded.Zstd)},
		"the heaviest":                              {"gzip;q=0.5, br;q=0.9, zstd;q=0.8", encoded.Accept(encoded.Brotli)},
		"listed under any":                          {"gzip;q=0.5, *;q=0.4", encoded.Accept(encoded.Gzip)},
		"identity preferred":                        {"gzip;q=0.5, identity;q=0.8", encoded.Accept(encoded.Identity)},
		"gzip preferred":                            {"gzip;q=0.8, identity;q=0.5", encoded.Accept(encoded.Gzip)},
		"equal weights give the smaller":            {"identity, gzip", encoded.Accept(encoded.Gzip)},
		"identity alone":                            {"identity", encoded.Accept(encoded.Identity)},
		"a weight of 1 with zeros":                  {"gzip;q=1.000", encoded.Accept(encoded.Gzip)},
		"a weight of 1 with a point":                {"gzip;q=1.", encoded.Accept(encoded.Gzip)},
		"spaces around the weight":                  {"gzip ; q=0.001", encoded.Accept(encoded.Gzip)},
		"another parameter before the weight":       {"gzip;x=1;q=0, br", encoded.Accept(encoded.Brotli)},
		"the last of two counts":                    {"gzip, gzip;q=0", encoded.Accept(encoded.Identity)},
		"identity refused, gzip taken":              {"identity;q=0, gzip", encoded.Accept(encoded.Gzip)},
		"identity refused, nothing else":            {"identity;q=0", 0},
		"all refused":                               {"*;q=0", 0},
		"all refused but what larder has not":       {"deflate, *;q=0", 0},
		"all refused but identity":                  {"*;q=0, identity", encoded.Accept(encoded.Identity)},
		"all refused but gzip":                      {"gzip, *;q=0", encoded.Accept(encoded.Gzip)},
		"identity refused, any taken":               {"identity;q=0, *", allPacked},
		"a malformed weight is no offer":            {"gzip;q=high", encoded.Accept(encoded.Identity)},
		"a weight above 1 is no offer":              {"gzip;q=1.5", encoded.Accept(encoded.Identity)},
		"a weight below 0 is no offer":              {"gzip;q=-1", encoded.Accept(encoded.Identity)},
		"a weight with four decimals is no offer":   {"gzip;q=0.1234", encoded.Accept(encoded.Identity)},
		"an empty weight is no offer":               {"gzip;q=", encoded.Accept(encoded.Identity)},
		"a malformed weight of identity refuses":    {"identity;q=x", 0},
		"a name that only begins like one is none":  {"gzipped, brx", encoded.Accept(encoded.Identity)},
		"white space that HTTP has not is no blank": {"gzip\u00a0", encoded.Accept(encoded.Identity)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := AcceptedEncodings(test.header); got != test.want {
				t.Errorf("%q: got %q, want %q", test.header, got, test.want)
			}
		})
	}
}

func TestAcceptsIdentity(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]bool{
		"": true, "gzip": true, "identity;q=0": false, "*;q=0": false, "*;q=0, identity;q=0.1": true, "*": true, "identity;q=0, *": false,
	} {
		read := readCodings(header)
		if got := read.takesIdentity(); got != want {
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
		"since two times":                     {http.Header{"If-Modified-Since": {at(0), at(0)}}, false},
		"any behind white space":              {http.Header{"If-None-Match": {"\t* "}}, true},
		"any among tags":                      {http.Header{"If-None-Match": {`"x", *`}}, false},
		"a list with empty elements":          {http.Header{"If-None-Match": {`, ,"x",, ` + etag + `,`}}, true},
		"a tag with a comma in it":            {http.Header{"If-None-Match": {`"x, W/\"42", ` + etag}}, false},
		"a small w":                           {http.Header{"If-None-Match": {`w/"42-1a2b3c4d"`}}, false},
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

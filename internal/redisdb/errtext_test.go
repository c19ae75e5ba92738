package redisdb_test

import (
	"strings"
	"testing"

	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/redistest"
)

// What is said of a failed connection names the setting that is probably wrong.
func TestConnectionFaults(t *testing.T) {
	t.Parallel()
	secured, open := redistest.Start(t, redistest.TLS()), redistest.Start(t)
	otherName := strings.Replace(secured.URL(), "127.0.0.1", "localhost", 1)
	for name, tc := range map[string]struct {
		config redisdb.Config
		want   string
	}{
		"a private authority": {redisdb.Config{URL: secured.URL()}, "set redis.ca_file"},
		"another name":        {redisdb.Config{URL: otherName, CAFile: secured.CAFile()}, "for another name"},
		"no TLS where Redis needs it": {
			redisdb.Config{URL: strings.Replace(secured.URL(), "rediss://", "redis://", 1)}, "use rediss://",
		},
		"a database that Redis has not": {redisdb.Config{URL: strings.Replace(open.URL(), "/0", "/99", 1)}, "write a smaller number after the host"},
		"no cluster":                    {redisdb.Config{URL: strings.Replace(open.URL(), "redis://", "redis+cluster://", 1)[:len(open.URL())+6]}, "write redis:// in redis.url"},
		"a database of a cluster":       {redisdb.Config{URL: strings.Replace(shared.Cluster(t).Nodes()[0].URL(), "/0", "/1", 1)}, "redis+cluster:// in redis.url, without a database"},
		"TLS where Redis has none":      {redisdb.Config{URL: strings.Replace(open.URL(), "redis://", "rediss://", 1)}, "timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := redisdb.SafeText(openWith(t, tc.config).Ping(t.Context())); !strings.Contains(got, tc.want) {
				t.Errorf("SafeText = %q, want %q", got, tc.want)
			}
		})
	}
}

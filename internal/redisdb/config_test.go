package redisdb_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"larder.local/internal/redisdb"
	"larder.local/internal/setting"
)

func TestRedisConfigDefaults(t *testing.T) {
	t.Parallel()
	var c redisdb.Config
	c.SetDefaults()
	want := redisdb.Config{URL: "embedded", Prefix: "larder"}
	if c != want {
		t.Errorf("got %+v, want %+v", c, want)
	}
	if err := c.Validate(); err != nil {
		t.Errorf("the defaults are invalid: %v", err)
	}
}

func TestRedisURL(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{ // part of the error; empty: valid
		"embedded":                               "",
		"managed":                                "run Redis as a separate service",
		"redis://localhost":                      "",
		"redis://user:hunter2@[::1]:6380/3":      "",
		"rediss://:hunter2@redis.example":        "",
		"rediss://h?skip_verify=true":            "",
		"http://:hunter2@localhost":              `unknown scheme "http"`,
		"hunter2@localhost://":                   "has an unknown scheme",
		"localhost:6379":                         "has no scheme",
		"":                                       "has no scheme",
		"redis://":                               "has no host",
		"redis://:hunter2@":                      "has no host",
		"redis://:hunter2#@localhost":            "percent-encode",
		"redis://:hunter2%@localhost":            "percent-encode",
		"redis://:hunter2@local host":            "invalid host",
		"redis://:hunter2@::1":                   "in brackets",
		"redis://:hunter2@localhost:0":           "invalid port",
		"redis://:hunter2@localhost:70000":       "invalid port",
		"redis://:hunter2@localhost:redis":       "the port as a number",
		"redis://:hunter2@localhost/catalogues":  "database",
		"redis://:hunter2@localhost/-1":          "database",
		"redis://:hunter2@h1,h2":                 "several hosts",
		"redis://localhost?password=hunter2":     "option",
		"redis://localhost?pool_size=20":         "",
		"redis+sentinel://:hunter2@h1,h2/m":      "",
		"redis+sentinel://h1:1,[::1],h3/m/3":     "",
		"rediss+sentinel://u:hunter2@h1/m/0":     "",
		"redis+sentinel://h1/m%2Fn?pool_size=20": "",
		"redis+sentinel://:hunter2@h1,h2":        "has no Sentinel master name",
		"redis+sentinel://:hunter2@h1,h2/":       "has no Sentinel master name",
		"redis+sentinel://:hunter2@h1/m/x":       "database",
		"redis+sentinel://:hunter2@h1/m/0/1":     "database",
		"redis+sentinel://:hunter2@h1,/m":        "has no host",
		"redis+cluster://:hunter2@h1,h2:7001":    "",
		"rediss+cluster://u:hunter2@[::1]/":      "",
		"redis+cluster://:hunter2@h1/0":          "a cluster has neither a database",
		"redis+cluster://:hunter2@h1?db=1":       "has a database",
		"redis+cluster://:hunter2@":              "has no host",
		"redis://u:h@hunter2/w#rd@host":          "percent-encode special characters of user and password",
		"redis://u:1/hunter2@host":               "percent-encode special characters of user and password",
		"redis+cluster://u:1/hunter2@host":       "percent-encode special characters of user and password",
	} {
		c := redisdb.Config{URL: url, Prefix: "p"}
		err := c.Validate()
		if err == nil && url != "" {
			r, openErr := redisdb.Open(c, quiet())
			if openErr == nil {
				openErr = r.Close()
			}
			if openErr != nil {
				t.Errorf("%q: Validate accepts it, Open does not: %v", url, openErr)
			}
		}
		if want == "" {
			if err != nil {
				t.Errorf("%q: %v, want it accepted", url, err)
			}
			continue
		}
		var fault *setting.Error
		if !errors.As(err, &fault) || fault.Key != "redis.url" || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "rediss://") {
			t.Errorf("%q: got %v, want an error with %q and the supported forms", url, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: the error contains the password: %v", url, err)
		}
	}
}

// A setting without effect is rejected.
func TestSettingsWithoutEffectAreRejected(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cfg  redisdb.Config
		want []string
	}{
		"user of the Sentinels":   {redisdb.Config{URL: "redis+sentinel://h/m", SentinelUsername: "u", SentinelPassword: "hunter2"}, nil},
		"user without a password": {redisdb.Config{URL: "redis+sentinel://h/m", SentinelUsername: "u"}, []string{"redis.sentinel_password"}},
		"no sentinel": {
			redisdb.Config{URL: "redis://h", SentinelUsername: "u", SentinelPassword: "hunter2"},
			[]string{"redis.sentinel_username", "redis.sentinel_password"},
		},
		"embedded and shared":           {redisdb.Config{URL: "embedded", Shared: true}, []string{"redis.shared"}},
		"a shared server":               {redisdb.Config{URL: "redis://h", Shared: true}, nil},
		"a CA file without TLS":         {redisdb.Config{URL: "redis+cluster://h", CAFile: "ca.pem"}, []string{"redis.ca_file"}},
		"a CA file that does not exist": {redisdb.Config{URL: "rediss+cluster://h", CAFile: "no.pem"}, []string{"redis.ca_file"}},
	} {
		test.cfg.SetDefaults()
		err := test.cfg.Validate()
		if (err == nil) != (len(test.want) == 0) {
			t.Errorf("%s: %v, want errors of %q", name, err, test.want)
		}
		for _, key := range test.want {
			if !strings.Contains(err.Error(), key+": ") || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s: %v, want an error of %s, without the password", name, err, key)
			}
		}
	}
}

// The check of the configuration reports an unreadable CA file.
func TestUnreadableCAFile(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{empty: "contains no PEM certificate", empty + "x": "cannot be read"} {
		cfg := redisdb.Config{URL: "rediss://h", CAFile: file}
		cfg.SetDefaults()
		err := cfg.Validate()
		var fault *setting.Error
		if !errors.As(err, &fault) || fault.Key != "redis.ca_file" || !strings.Contains(fault.Msg, want) {
			t.Errorf("%s: %v, want an error of redis.ca_file: %s", file, err, want)
		}
	}
}

func TestRedisPrefix(t *testing.T) {
	t.Parallel()
	for prefix, ok := range map[string]bool{"larder": true, "a.b-c_d:e": true, "": false, "a b": false, "{a}": false, strings.Repeat("x", 65): false} {
		if err := (redisdb.Config{URL: "embedded", Prefix: prefix}).Validate(); (err == nil) != ok {
			t.Errorf("prefix %q: %v, want valid %t", prefix, err, ok)
		}
	}
}

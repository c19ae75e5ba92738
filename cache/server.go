package cache

import (
	"context"
	"fmt"
	"strings"
)

// About is what a Redis says of itself.
type About struct {
	Form    Form
	Server  string // "redis", "valkey" or "miniredis"
	Version string // of the server; "" where it does not say
}

// String says it for a person: "sentinel, redis 7.0.15".
func (a About) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s, %s %s", a.Form, a.Server, a.Version))
}

// About asks the server what it is; of several, any one. The error is
// ErrUnavailable with its cause.
func (r *Redis) About(ctx context.Context) (About, error) {
	if r.form == Embedded {
		return About{Form: Embedded, Server: "miniredis"}, r.Ping(ctx)
	}
	info, err := r.strict.Info(ctx, "server").Result()
	if err != nil {
		return About{}, unavailable("ask for the version", err)
	}
	if version := infoField(info, "valkey_version"); version != "" {
		return About{Form: r.form, Server: "valkey", Version: version}, nil
	}
	return About{Form: r.form, Server: "redis", Version: infoField(info, "redis_version")}, nil
}

// infoField is the value of one name in what INFO says, "" when it is not there.
func infoField(info, name string) string {
	for line := range strings.Lines(info) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

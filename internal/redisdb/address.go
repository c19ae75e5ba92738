package redisdb

import (
	"cmp"
	"net"
	"net/url"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"larder.local/internal/setting"
)

// Topology is the kind of Redis that redis.url names.
type Topology string

// The topologies. Embedded is also a redis.url.
const (
	Embedded = "embedded" // inside the process, in memory only

	Single   Topology = "single"   // redis:// or rediss://
	Sentinel Topology = "sentinel" // redis+sentinel:// or rediss+sentinel://
	Cluster  Topology = "cluster"  // redis+cluster:// or rediss+cluster://
)

// address is a parsed redis.url.
type address struct {
	topology Topology
	// options are for the topologies with an address. Addrs are the server, the
	// Sentinels, or some nodes of the cluster.
	options redis.UniversalOptions
}

const (
	redisPort    = "6379"
	sentinelPort = "26379"
	// supported lists the valid forms of redis.url, for messages.
	supported = `write "embedded", redis://[user:password@]host[:port][/database], ` +
		"redis+sentinel://[user:password@]host[:port][,host…]/master[/database], " +
		"redis+cluster://[user:password@]host[:port][,host…], or rediss://… of each for TLS"
)

var schemePattern = regexp.MustCompile(`^[a-z][a-z0-9+.-]{0,30}$`)

// parseURL parses redis.url. Its error never contains the URL, which may hold a password.
func parseURL(raw string) (address, error) {
	switch raw {
	case Embedded:
		return address{topology: Embedded}, nil
	case "managed": // accepted by earlier versions
		return refuse(`"managed" was removed because larder does not start a redis-server; run Redis as a separate service`)
	}
	scheme, rest, found := strings.Cut(raw, "://")
	if !found {
		return refuse("has no scheme")
	}
	kinds := map[string]Topology{"redis": Single, "redis+sentinel": Sentinel, "redis+cluster": Cluster}
	topology, known := kinds[strings.Replace(scheme, "rediss", "redis", 1)]
	switch {
	case known:
		protocol, _, _ := strings.Cut(scheme, "+") // redis or rediss
		return parseAddress(topology, protocol, rest)
	case schemePattern.MatchString(scheme):
		return refuse("unknown scheme " + strconv.Quote(scheme))
	default:
		return refuse("has an unknown scheme")
	}
}

func refuse(why string) (address, error) {
	return address{}, setting.Errorf("redis.url", "%s; %s", why, supported)
}

// parseAddress parses the part after the scheme: [user:password@]hosts[/path][?options].
func parseAddress(topology Topology, protocol, rest string) (address, error) {
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority, tail := rest[:end], rest[end:]
	at := strings.LastIndexByte(authority, '@') + 1
	path, query, _ := strings.Cut(tail, "?")
	refuse := func(why string) (address, error) {
		if strings.Contains(tail, "@") {
			why += " (percent-encode special characters of user and password)"
		}
		return refuse(why)
	}
	hosts, why := parseHosts(authority[at:], topology)
	if why != "" {
		return refuse(why)
	}
	master, database, why := parsePath(path, topology)
	if why != "" {
		return refuse(why)
	}
	// go-redis parses the rest as the address of one server. Its error is dropped because it quotes the
	// URL. It also rejects a password as an option, which nothing would redact.
	one := protocol + "://" + authority[:at] + hosts[0] + database
	if query != "" {
		one += "?" + query
	}
	if _, err := url.Parse(one); err != nil {
		return refuse("is not a valid address (percent-encode special characters of user and password)")
	}
	options, err := redis.ParseURL(one)
	if err != nil || options.DB < 0 {
		return refuse("has an invalid database or option")
	}
	if topology == Cluster && options.DB != 0 {
		return refuse("has a database, which a cluster does not support")
	}
	addr := address{topology: topology, options: universal(options)}
	addr.options.Addrs, addr.options.MasterName = hosts, master
	if addr.options.TLSConfig != nil && topology != Single {
		addr.options.TLSConfig.ServerName = "" // each server is verified by its own name
	}
	return addr, nil
}

// parseHosts returns each host with its port; why is the fault.
func parseHosts(list string, topology Topology) (hosts []string, why string) {
	standard := redisPort
	if topology == Sentinel {
		standard = sentinelPort
	}
	for host := range strings.SplitSeq(list, ",") {
		u, err := url.Parse("redis://" + host)
		switch {
		case err != nil, strings.Count(host, ":") > 1 && !strings.HasPrefix(host, "["):
			return nil, "has an invalid host (write an IPv6 address in brackets and the port as a number, and " +
				"percent-encode special characters of a password)"
		case u.Hostname() == "":
			return nil, "has no host"
		}
		port := cmp.Or(u.Port(), standard)
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return nil, "has an invalid port (1 to 65535)"
		}
		hosts = append(hosts, net.JoinHostPort(u.Hostname(), port))
	}
	if topology == Single && len(hosts) > 1 {
		return nil, "has several hosts, which only Sentinel and Cluster support"
	}
	return hosts, ""
}

// parsePath returns the name of Sentinel's master, and the path with the database.
func parsePath(path string, topology Topology) (master, database, why string) {
	path = strings.TrimSuffix(path, "/")
	switch {
	case topology == Sentinel:
		name, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		master, err := url.PathUnescape(name)
		if err != nil || master == "" {
			return "", "", "has no Sentinel master name; write it after the hosts, as in redis+sentinel://host/mymaster"
		}
		if rest == "" {
			return master, "", ""
		}
		return master, "/" + rest, ""
	case topology == Cluster && path != "":
		return "", "", "has a path, but a cluster has neither a database nor a master name"
	}
	return "", path, ""
}

// universal converts the result of redis.ParseURL to options for any topology: it copies the fields that both
// types have. withLimits overwrites those that larder sets itself (retries, timeouts).
func universal(o *redis.Options) (options redis.UniversalOptions) {
	from, to := reflect.ValueOf(o).Elem(), reflect.ValueOf(&options).Elem()
	for i := range to.NumField() {
		if value := from.FieldByName(to.Type().Field(i).Name); value.IsValid() {
			to.Field(i).Set(value)
		}
	}
	return options
}

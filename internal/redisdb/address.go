package redisdb

import (
	"cmp"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"larder/internal/setting"
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
	// options are of the topologies that have an address: Addrs are the server, the
	// Sentinels, or some nodes of the cluster.
	options redis.UniversalOptions
}

const (
	redisPort    = "6379"
	sentinelPort = "26379"
	// supported is what redis.url may be, for messages.
	supported = `write "embedded", redis://[user:password@]host[:port][/database], ` +
		"redis+sentinel://[user:password@]host[:port][,host…]/master[/database], " +
		"redis+cluster://[user:password@]host[:port][,host…], or rediss://… of each for TLS"
)

var schemePattern = regexp.MustCompile(`^[a-z][a-z0-9+.-]{0,30}$`)

// parseURL never puts the URL into its error: it may hold a password.
func parseURL(raw string) (address, error) {
	switch raw {
	case Embedded:
		return address{topology: Embedded}, nil
	case "managed": // accepted by earlier versions
		return refuse(`"managed" was removed: larder starts no redis-server any more; run Redis as a service of its own`)
	}
	scheme, rest, found := strings.Cut(raw, "://")
	if !found {
		return refuse("has no scheme")
	}
	topology, secured := Single, strings.HasPrefix(scheme, "rediss")
	switch scheme {
	case "redis", "rediss":
	case "redis+sentinel", "rediss+sentinel":
		topology = Sentinel
	case "redis+cluster", "rediss+cluster":
		topology = Cluster
	default:
		if !schemePattern.MatchString(scheme) {
			return refuse("has a scheme that is none of a Redis address")
		}
		return refuse(strconv.Quote(scheme) + " is no scheme of a Redis address")
	}
	return parseAddress(topology, secured, rest)
}

func refuse(why string) (address, error) {
	return address{}, setting.Errorf("redis.url", "%s; %s", why, supported)
}

// parseAddress reads what follows the scheme: [user:password@]hosts[/path][?options].
func parseAddress(topology Topology, secured bool, rest string) (address, error) {
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority, tail := rest[:end], rest[end:]
	at := strings.LastIndexByte(authority, '@') + 1
	path, query, _ := strings.Cut(tail, "?")
	hosts, why := parseHosts(authority[at:], topology)
	if why != "" {
		return refuse(why)
	}
	master, database, why := parsePath(path, topology)
	if why != "" {
		return refuse(why)
	}
	// The rest is what go-redis reads, and refuses, of one server's address. Its
	// error quotes the URL; a password given as an option, which nothing would
	// redact, is among what it refuses.
	one := "redis://"
	if secured {
		one = "rediss://"
	}
	one += authority[:at] + hosts[0] + database
	if query != "" {
		one += "?" + query
	}
	if _, err := url.Parse(one); err != nil {
		return refuse("cannot be read as an address (special characters of a password are percent-encoded)")
	}
	options, err := redis.ParseURL(one)
	if err != nil || options.DB < 0 {
		return refuse("has a database or option that cannot be read")
	}
	if topology == Cluster && options.DB != 0 {
		return refuse("names a database, which a cluster does not have")
	}
	addr := address{topology: topology, options: universal(options)}
	addr.options.Addrs, addr.options.MasterName = hosts, master
	if addr.options.TLSConfig != nil && topology != Single {
		addr.options.TLSConfig.ServerName = "" // each server is asked for its own name
	}
	return addr, nil
}

// parseHosts returns each host with its port; why says what is wrong.
func parseHosts(list string, topology Topology) (hosts []string, why string) {
	standard := redisPort
	if topology == Sentinel {
		standard = sentinelPort
	}
	for host := range strings.SplitSeq(list, ",") {
		u, err := url.Parse("redis://" + host)
		switch {
		case err != nil, strings.Count(host, ":") > 1 && !strings.HasPrefix(host, "["):
			return nil, "has a host that cannot be read (an IPv6 address stands in brackets, a port is a number, " +
				"special characters of a password are percent-encoded)"
		case u.Hostname() == "":
			return nil, "names no host"
		}
		port := cmp.Or(u.Port(), standard)
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return nil, "has a port that is none (1 to 65535)"
		}
		hosts = append(hosts, net.JoinHostPort(u.Hostname(), port))
	}
	if topology == Single && len(hosts) > 1 {
		return nil, "names several hosts, which only Sentinel and Cluster have"
	}
	return hosts, ""
}

// parsePath returns the name of Sentinel's master, and the path of the database.
func parsePath(path string, topology Topology) (master, database, why string) {
	path = strings.TrimSuffix(path, "/")
	switch topology {
	case Sentinel:
		name, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		master, err := url.PathUnescape(name)
		if err != nil || master == "" {
			return "", "", "does not name Sentinel's master: it stands behind the hosts, as in redis+sentinel://host/mymaster"
		}
		if rest == "" {
			return master, "", ""
		}
		return master, "/" + rest, ""
	case Cluster:
		if path != "" {
			return "", "", "has a path, but a cluster has neither databases nor a master's name"
		}
		return "", "", ""
	default:
		return "", path, ""
	}
}

// universal is what redis.ParseURL reads, for any topology. What larder sets itself
// (retries, time-outs) is left out.
func universal(o *redis.Options) redis.UniversalOptions {
	return redis.UniversalOptions{
		ClientName: o.ClientName, DB: o.DB, Protocol: o.Protocol, Username: o.Username, Password: o.Password,
		PipelineReadBufferSize: o.PipelineReadBufferSize, PipelineWriteBufferSize: o.PipelineWriteBufferSize,
		PipelinePoolSize: o.PipelinePoolSize, PoolFIFO: o.PoolFIFO, PoolSize: o.PoolSize, PoolTimeout: o.PoolTimeout,
		MaxConcurrentDials: o.MaxConcurrentDials, MinIdleConns: o.MinIdleConns, MaxIdleConns: o.MaxIdleConns,
		MaxActiveConns: o.MaxActiveConns, ConnMaxIdleTime: o.ConnMaxIdleTime, ConnMaxLifetime: o.ConnMaxLifetime,
		ConnMaxLifetimeJitter: o.ConnMaxLifetimeJitter, MinRetryBackoff: o.MinRetryBackoff, MaxRetryBackoff: o.MaxRetryBackoff,
		TLSConfig: o.TLSConfig,
	}
}

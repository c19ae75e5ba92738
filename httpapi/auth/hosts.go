package auth

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// ownHost reports whether a host, with or without a port, is one of http.hosts, localhost, or an IP
// address (policy H3). An attacker can make any other name resolve to this server (DNS rebinding).
// For the browser, the attacker's pages would then have the same origin.
func (a *Auth) ownHost(host string) bool {
	name := hostName(host)
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return a.namesHost(name)
}

// namesHost reports whether http.hosts lists the name.
func (a *Auth) namesHost(name string) bool {
	return slices.ContainsFunc(a.deps.Hosts, func(own string) bool { return strings.EqualFold(own, name) })
}

// hostName returns the host in lower case, without its port.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

// ownOrigin reports whether a request comes from a page of this server. Its Origin must be http or
// https, with one of these hosts: the request's Host, if ownHost accepts it; or a name in
// http.hosts without a port, because a proxy may change Host. Browsers send no Origin with a GET to
// the same origin. At https or localhost they send Sec-Fetch-Site, which must be same-origin.
func (a *Auth) ownOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return r.Header.Get("Sec-Fetch-Site") == "same-origin" && a.ownHost(r.Host) &&
			(r.Method == http.MethodGet || r.Method == http.MethodHead)
	}
	scheme, host, found := strings.Cut(origin, "://")
	if !found || scheme != "http" && scheme != "https" {
		return false
	}
	return strings.EqualFold(host, r.Host) && a.ownHost(host) || a.namesHost(strings.ToLower(host))
}

// notOwnHost is the error text for requests that reboundPage finds.
const notOwnHost = "the page's host name is not in http.hosts; add it there, or open the page at localhost"

// reboundPage reports whether only this machine can reach larder and the request comes from a page whose host is not
// this server's own (DNS rebinding). Larder then accepts weak secrets (policy H8), and such a page must not use them.
func (a *Auth) reboundPage(r *http.Request) bool {
	return !a.deps.Exposed && r.Header.Get("Origin") != "" && !a.ownHost(r.Host)
}

// Proxies are the networks in http.trusted_proxies. Larder trusts their X-Forwarded headers.
type Proxies []netip.Prefix

// NewProxies parses addresses and networks that the configuration has checked.
func NewProxies(networks []string) Proxies {
	var all Proxies
	for _, text := range networks {
		if prefix, err := netip.ParsePrefix(text); err == nil {
			all = append(all, prefix.Masked())
		} else if addr, err := netip.ParseAddr(text); err == nil {
			all = append(all, netip.PrefixFrom(addr, addr.BitLen()))
		}
	}
	return all
}

// https reports whether the browser used https. Either larder's own connection uses TLS, or a
// trusted proxy sent X-Forwarded-Proto: https. If there are several values, all must be https.
func (p Proxies) https(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	values := r.Header.Values("X-Forwarded-Proto")
	if len(values) == 0 || !p.Trust(r.RemoteAddr) {
		return false
	}
	hops := strings.Split(strings.Join(values, ","), ",")
	return !slices.ContainsFunc(hops, func(hop string) bool { return !strings.EqualFold(strings.TrimSpace(hop), "https") })
}

// Trust reports whether the remote address of a connection (address:port) is a trusted proxy.
func (p Proxies) Trust(remote string) bool {
	end, err := netip.ParseAddrPort(remote)
	if err != nil {
		return false
	}
	addr := end.Addr().Unmap().WithZone("")
	return slices.ContainsFunc(p, func(network netip.Prefix) bool { return network.Contains(addr) })
}

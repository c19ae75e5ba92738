package auth

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxies are the networks of http.trusted_proxies: what they say of a request
// is believed.
type Proxies []netip.Prefix

// NewProxies reads addresses and networks that the configuration has checked.
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

// https reports whether the browser came by https: to larder itself, or to a
// trusted proxy that says so. Where several have spoken, all must.
func (p Proxies) https(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	said := r.Header.Values("X-Forwarded-Proto")
	if len(said) == 0 || !p.Hold(r.RemoteAddr) {
		return false
	}
	for hop := range strings.SplitSeq(strings.Join(said, ","), ",") {
		if !strings.EqualFold(strings.TrimSpace(hop), "https") {
			return false
		}
	}
	return true
}

// Hold reports whether the other end of a connection, an address with its port,
// is one of them.
func (p Proxies) Hold(remote string) bool {
	end, err := netip.ParseAddrPort(remote)
	if err != nil {
		return false
	}
	addr := end.Addr().Unmap().WithZone("")
	return slices.ContainsFunc(p, func(network netip.Prefix) bool { return network.Contains(addr) })
}

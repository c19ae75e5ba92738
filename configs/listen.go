package configs

import (
	"net"
	"net/netip"
)

// Loopback says whether only this machine can reach larder.
func (c *Config) Loopback() bool {
	for _, address := range c.listens() {
		if !IsLoopback(address) {
			return false
		}
	}
	return true
}

// listens are the addresses of the listeners.
func (c *Config) listens() []string {
	if c.HTTP.OpsListen == "" {
		return []string{c.HTTP.Listen}
	}
	return []string{c.HTTP.Listen, c.HTTP.OpsListen}
}

// IsLoopback says whether a listener's address (host:port) is reachable from
// this machine alone.
func IsLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

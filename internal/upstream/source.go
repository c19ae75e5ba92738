package upstream

import (
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
)

// Source identifies the ordering service of a connection (policy O16): "host:port/path client_id". The address is in
// lower case, without scheme, default port and final '/'. What is stored of a menu or an order belongs to its source.
func Source(c Config) string { return sourceOf(c.BaseURL, c.ClientID) }

// SourceNames returns the source of a connection, then those of former_urls and former_client_ids, which are the same
// service.
func SourceNames(c Config) []string {
	var names []string
	for _, client := range append([]string{c.ClientID}, c.FormerClientIDs...) {
		for _, address := range append([]string{c.BaseURL}, c.FormerURLs...) {
			if name := sourceOf(address, client); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// SourceParts returns the address, which has no scheme, and the client_id of a source.
func SourceParts(source string) (address, client string) {
	address, client, _ = strings.Cut(source, " ")
	return address, client
}

func sourceOf(address, client string) string {
	to, err := url.Parse(address)
	if err != nil { // Validate rejects it
		return address + " " + client
	}
	host := to.Host
	if port := to.Port(); port == "" || port == "80" || port == "443" { // the default ports; http and https are the same
		host = strings.TrimSuffix(host, ":"+port)
	}
	return strings.ToLower(host+strings.TrimRight(to.EscapedPath(), "/")) + " " + client
}

// Sources has the sources of all connections. A nil *Sources has none, and every source is the same to it.
type Sources struct {
	names atomic.Pointer[map[string][]string]
}

// NewSources returns the sources of connections.
func NewSources(connections []Config) *Sources {
	s := &Sources{}
	s.Set(connections)
	return s
}

// Set replaces the connections.
func (s *Sources) Set(connections []Config) {
	names := make(map[string][]string, len(connections))
	for _, c := range connections {
		names[c.Name] = SourceNames(c)
	}
	s.names.Store(&names)
}

// Names returns SourceNames of a connection; none if it is not configured. The caller must not change the slice.
func (s *Sources) Names(connection string) []string {
	if s == nil {
		return nil
	}
	return (*s.names.Load())[connection]
}

// Current returns the Source of a connection, or "".
func (s *Sources) Current(connection string) string {
	if names := s.Names(connection); len(names) > 0 {
		return names[0]
	}
	return ""
}

// Same reports whether a source is the connection's own or a former one. A connection that is not configured has no
// source, so nothing can be sent to it.
func (s *Sources) Same(connection, source string) bool {
	return s == nil || slices.Contains(s.Names(connection), source)
}

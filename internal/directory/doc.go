// Package directory knows the restaurants of the configuration, the connections
// to which they belong, and which of them a client may see.
//
// Its invariant: what one call reads is the content of one configuration. A
// reload replaces the whole content at once, and no call sees a part of it.
//
// cmd/larder fills a Directory at the start and at each reload. The reads, lists
// and order routes of httpapi and the cache's replica ask it, so that none of
// them depends on the scheduler. The package does no I/O, and it knows neither
// schedules nor the menus themselves: it says which restaurants are configured,
// not whether they have a menu yet.
package directory

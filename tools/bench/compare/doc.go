// Package compare gives two builds of larder the same orders, changes, menus, faults
// and broken configurations, and reports each difference of what they answer, what
// they send to the ordering service, what they log, the metrics that they export and
// how their commands end.
//
// The ordering service is a small server of its own that follows a plan: for each step
// it has what the service answers, byte by byte. Ids, times and addresses are different
// in every run, so they are replaced before the comparison (normal.go).
package compare

package main

import (
	"fmt"
	"strings"
)

// invite prints what to open and try. Every line of it works as it is printed.
func (d *demo) invite(walk *walk) error {
	id, base := walk.restaurant, walk.daemon.base
	client := d.cfg.Auth.Clients[0]
	ops := d.cfg.Auth.Clients[1]
	service := d.cfg.Connections[0]
	lines := []string{
		"Larder is running: " + plural(len(d.cfg.Restaurants), "restaurant", "restaurants") + ", menus pulled and served. Ctrl-C ends it; nothing is kept.",
		"",
		"Open",
		"  " + base + "/   the menu, and an order from it",
		"  " + base + "/v1/restaurants",
		"  " + base + "/v1/restaurants/" + id + "/menu",
		"  " + base + "/readyz?verbose",
		"  " + base + "/ops   the operators' console: client " + ops.ID + ", secret " + ops.Secret,
		"  " + base + "/docs   the HTTP interface, to read and try",
		"  " + d.kitchen.url + "/   the kitchen's board: orders as they arrive, stop lists, faults",
		"  " + d.kitchen.url + "/sandbox/orders   what the ordering service received",
		"  " + d.kitchen.url + "/connect/token   the ordering service itself: client " + service.ClientID + ", secret " + service.ClientSecret,
		"",
		"Try",
		"  # an order is checked: everything that is wrong with it comes at once",
		"  " + curl(base+"/v1/restaurants/"+id+"/orders/validate", walk.bad),
		"  # a token, and an order that is placed",
		"  TOKEN=$(" + tokenLine(base, client.ID, client.Secret, "orders") + ")",
		"  " + curl(base+"/v1/restaurants/"+id+"/orders", walk.good, `Authorization: Bearer $TOKEN`, `Idempotency-Key: $(date +%s%N)`),
		"  # what the ordering service received",
		"  curl -s " + d.kitchen.url + "/sandbox/orders",
		"  # pull the menu again, now",
		"  OPS=$(" + tokenLine(base, ops.ID, ops.Secret, "ops") + ")",
		`  curl -s -X POST -H "Authorization: Bearer $OPS" '` + base + "/v1/ops/restaurants/" + id + "/sync?wait=30s'",
	}
	for _, line := range lines {
		d.w.out.println(line)
	}
	return nil
}

// curl is a command line that posts JSON.
func curl(url string, body []byte, headers ...string) string {
	var line strings.Builder
	line.WriteString("curl -s " + url + " -H 'Content-Type: application/json'")
	for _, header := range headers {
		line.WriteString(` -H "` + header + `"`)
	}
	line.WriteString(" -d '" + strings.ReplaceAll(string(body), "'", `'\''`) + "'")
	return line.String()
}

// tokenLine is a command line that prints a bearer token.
func tokenLine(base, id, secret, scope string) string {
	return fmt.Sprintf(`curl -s %s/connect/token -d grant_type=client_credentials -d client_id=%s -d client_secret=%s -d scope=%s | sed 's/.*"access_token":"\([^"]*\)".*/\1/'`, base, id, secret, scope)
}

package compare

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

// wholeConfig is a valid configuration with most keys, for mistakes.
const wholeConfig = `http:
  listen: 127.0.0.1:8080
  ops_listen: 127.0.0.1:8081
  hosts: [shop.example]
  cors_origins: ["https://shop.example"]
  max_age: 10s
  rate:
    validate: 20/s
    place: 5/s
  events:
    per_address: 10
  page:
    enabled: true
    currency: EUR
    color: "#14532d"
  access_log: sampled
redis:
  url: redis://127.0.0.1:6379/0
  prefix: larder
cache:
  memory: 512MiB
  poll: 5s
connections:
  - name: main
    base_url: https://orders.example
    auth_url: https://auth.example
    client_id: my-client
    client_secret: ${ORDERS_SECRET}
    token_request: document
    refusal_codes: ["ERR_X: no"]
    timeouts:
      write: 15s
restaurants:
  - id: my-restaurant
    name: My Restaurant
    connection: main
    schedule: "@every 2m"
    time_zone: Europe/Lisbon
    ordering:
      max_depth: 6
      required:
        delivery: [guest.phone]
sync:
  schedule: "*/5 * * * *"
  shrink_limit: 0.5
  memory: 512MiB
ordering:
  max_zero: unlimited
  fractional_units: [kg, liter]
  place_timeout: 20s
auth:
  clients:
    - id: storefront
      secret: ${STOREFRONT_SECRET}
      scopes: [menu, orders]
      connection: main
tracing:
  sample: 0.5
`

// configEnv returns the secrets of wholeConfig.
func configEnv() []string {
	return []string{"ORDERS_SECRET=Bn5kQe1zRt6yVu0i", "STOREFRONT_SECRET=qzVhwR4mT9cLxN2b"}
}

// brokenConfig returns a configuration with one to three mistakes.
func brokenConfig(rng *rand.Rand) string {
	lines := strings.Split(strings.TrimSuffix(wholeConfig, "\n"), "\n")
	for range 1 + rng.IntN(3) {
		i := rng.IntN(len(lines))
		key, value, _ := strings.Cut(lines[i], ":")
		switch rng.IntN(12) {
		case 0:
			lines = append(lines[:i], lines[i+1:]...)
		case 1:
			lines = append(lines[:i+1], lines[i:]...)
		case 2:
			lines[i] = " " + lines[i]
		case 3:
			lines[i] = strings.TrimPrefix(lines[i], " ")
		case 4:
			lines[i] = "\t" + lines[i]
		case 5:
			lines[i] = strings.TrimSuffix(key, key[len(key)-min(1, len(key)):]) + ":" + value // a misspelled key
		case 6:
			lines[i] = key + value
		default:
			lines[i] = key + ": " + pick(rng, []string{"", "-1", "0", "yes", `""`, `"open`, "[", "{a: 1}", "[1, 2]", "999999999999999999999", "1.5", "5 minutes", "ftp://x", "*x", "!!int x", "${NOT_SET}", "'it''s'", "\u202e", "null", strconv.Itoa(rng.IntN(100000))})
		}
		if len(lines) == 0 {
			break
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

package auth_test

import (
	"fmt"

	"larder.local/httpapi"
	"larder.local/httpapi/auth"
)

func ExampleConfig_ValidateFor() {
	door := httpapi.Config{Listen: "0.0.0.0:8080"}
	cfg := auth.Config{Clients: []auth.ClientConfig{{ID: "shop", Secret: "too short", Scopes: []auth.Scope{auth.ScopeMenu}}}}
	fmt.Println(cfg.ValidateFor(door.Exposed()))
	// Output: auth.clients[0].secret: is shorter than 16 bytes, which is not allowed because http.listen (0.0.0.0:8080) is reachable from other machines; create a random one with `openssl rand -base64 32`
}

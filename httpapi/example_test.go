package httpapi_test

import (
	"fmt"

	"larder/httpapi"
)

func ExampleAuthConfig_ValidateFor() {
	door := httpapi.Config{Listen: "0.0.0.0:8080"}
	authCfg := httpapi.AuthConfig{Clients: []httpapi.ClientConfig{{ID: "shop", Secret: "too short", Scopes: []httpapi.Scope{httpapi.ScopeMenu}}}}
	fmt.Println(authCfg.ValidateFor(door.Exposed()))
	// Output: auth.clients[0].secret: is shorter than 16 bytes, which is rejected because http.listen (0.0.0.0:8080) is reachable from other machines; use a random one, as `openssl rand -base64 24` prints
}

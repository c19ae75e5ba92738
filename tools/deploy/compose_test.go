package deploy

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

// TestCompose loads deploy/compose.yaml like `docker compose`, with the schema of the
// Compose specification, and checks the rights of each service.
func TestCompose(t *testing.T) {
	t.Parallel()
	options, err := cli.NewProjectOptions([]string{"../../deploy/compose.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if names := project.ServiceNames(); !slices.Equal(names, []string{"grafana", "larder", "prometheus", "valkey"}) {
		t.Errorf("services %q", names)
	}
	for name, service := range project.Services {
		if !service.ReadOnly || !slices.Equal(service.CapDrop, []string{"ALL"}) || !slices.Contains(service.SecurityOpt, "no-new-privileges:true") {
			t.Errorf("%s may do more than it needs: read_only %v, cap_drop %q, security_opt %q", name, service.ReadOnly, service.CapDrop, service.SecurityOpt)
		}
		if service.HealthCheck == nil || len(service.HealthCheck.Test) == 0 {
			t.Errorf("%s has no health check", name)
		}
		for _, port := range service.Ports {
			if port.HostIP != "127.0.0.1" {
				t.Errorf("%s is offered to other machines: %v", name, port)
			}
		}
		if len(service.Ports) > 0 != slices.Contains(service.NetworksByPriority(), "outside") {
			t.Errorf("%s has ports %v and the networks %q", name, service.Ports, service.NetworksByPriority())
		}
		for _, mounted := range service.Configs {
			if file := project.Configs[mounted.Source].File; !isFile(file) {
				t.Errorf("%s: there is no %s", name, file)
			}
		}
		for _, mounted := range service.Secrets {
			if project.Secrets[mounted.Source].File == "" {
				t.Errorf("%s: the secret %s is no file", name, mounted.Source)
			}
		}
	}
	checkLarder(t, project.Services["larder"])
	members := map[string][]string{}
	for _, name := range project.ServiceNames() {
		for network := range project.Services[name].Networks {
			members[network] = append(members[network], name)
		}
	}
	if got := members["data"]; !slices.Equal(got, []string{"larder", "valkey"}) || !project.Networks["data"].Internal {
		t.Errorf("the network of Valkey is of %q, internal: %v; want larder and valkey alone", got, project.Networks["data"].Internal)
	}
	if !project.Networks["monitoring"].Internal || len(project.Services["valkey"].Networks) != 1 {
		t.Errorf("the metrics lead outside, or Valkey has other networks: %v", members)
	}
	// Other containers must not be able to claim a guest's address.
	settings, err := os.ReadFile("../../deploy/compose/larder.yaml")
	if pools := project.Networks["outside"].Ipam.Config; err != nil || len(pools) != 1 ||
		!strings.Contains(string(settings), "\n  trusted_proxies: ["+pools[0].Gateway+"]\n") {
		t.Errorf("larder trusts more than the gateway of %+v (%v):\n%s", pools, err, settings)
	}
	valkey := project.Services["valkey"]
	if len(valkey.Secrets) != 1 || !slices.Contains(valkey.Command, "/run/secrets/"+valkey.Secrets[0].Source) {
		t.Errorf("Valkey has no password: it runs as %q with the secrets %v", valkey.Command, valkey.Secrets)
	}
	for _, words := range [][]string{{"--appendonly", "yes"}, {"--maxmemory-policy", "noeviction"}} {
		if at := slices.Index(project.Services["valkey"].Command, words[0]); at < 0 || project.Services["valkey"].Command[at+1] != words[1] {
			t.Errorf("orders would not be placed: Valkey runs as %q", project.Services["valkey"].Command)
		}
	}
}

func checkLarder(t *testing.T, larder types.ServiceConfig) {
	t.Helper()
	if shared := larder.Environment["LARDER_REDIS_SHARED"]; shared == nil || *shared != "true" {
		t.Errorf("larder's environment is %v", larder.Environment)
	}
	if !slices.Equal(larder.HealthCheck.Test, []string{"CMD", "/larder", "status"}) { // an address would not be that of http.ops_listen
		t.Errorf("the health check is %q", larder.HealthCheck.Test)
	}
	if condition := larder.DependsOn["valkey"].Condition; condition != types.ServiceConditionHealthy {
		t.Errorf("larder starts when Valkey is %q", condition)
	}
	if larder.Build == nil || !isFile(larder.Build.Context+"/Dockerfile") {
		t.Errorf("larder is built from %+v", larder.Build)
	}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

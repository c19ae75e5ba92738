package deploy

import (
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

const manifests = "../../deploy/kubernetes"

// rendered contains the objects of a folder by kind and name.
type rendered map[string]map[string]any

// render runs kustomize and decodes each object strictly: an unknown field is an error.
func render(t *testing.T, folder string) rendered {
	t.Helper()
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		t.Fatal(err)
	}
	all := rendered{}
	for _, resource := range resources.Resources() {
		kind, name := resource.GetKind(), resource.GetName()
		var object any
		switch kind {
		case "Deployment":
			object = new(appsv1.Deployment)
		case "Service":
			object = new(corev1.Service)
		case "ServiceAccount":
			object = new(corev1.ServiceAccount)
		case "ConfigMap":
			object = new(corev1.ConfigMap)
		case "Secret":
			object = new(corev1.Secret)
		case "PodDisruptionBudget":
			object = new(policyv1.PodDisruptionBudget)
		case "NetworkPolicy":
			object = new(networkingv1.NetworkPolicy)
		case "ServiceMonitor":
			object = new(map[string]any) // of the operator
		default:
			t.Fatalf("%s %s: the test does not know this kind", kind, name)
		}
		text, err := resource.AsYAML()
		if err == nil {
			err = yaml.UnmarshalStrict(text, object)
		}
		if err != nil {
			t.Errorf("%s %s: %v", kind, name, err)
		}
		if all[kind] == nil {
			all[kind] = map[string]any{}
		}
		all[kind][name] = object
	}
	return all
}

// one returns the only object of a kind.
func one[T any](t *testing.T, all rendered, kind string) *T {
	t.Helper()
	for _, object := range all[kind] {
		if typed, ok := object.(*T); ok && len(all[kind]) == 1 {
			return typed
		}
	}
	t.Fatalf("there are %d of %s, want one", len(all[kind]), kind)
	return nil
}

// example copies the folder and adds the secrets that users create.
func example(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(manifests)); err != nil {
		t.Fatal(err)
	}
	secrets := filepath.Join(dir, "example", "secrets")
	if err := os.MkdirAll(secrets, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"redis-url", "orders-secret", "storefront-secret", "ops-secret"} {
		if err := os.WriteFile(filepath.Join(secrets, name), []byte("x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "example")
}

func TestKubernetes(t *testing.T) {
	t.Parallel()
	for name, folder := range map[string]string{"base": filepath.Join(manifests, "base"), "example": example(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := render(t, folder)
			deployment := one[appsv1.Deployment](t, all, "Deployment")
			pod := deployment.Spec.Template
			replicas := int(*deployment.Spec.Replicas)
			if replicas < 2 {
				t.Errorf("%d replicas", replicas)
			}
			checkPod(t, pod)
			if volume := pod.Spec.Volumes[0].ConfigMap.Name; all["ConfigMap"][volume] == nil {
				t.Errorf("the pods want ConfigMap %s, there is %v", volume, all["ConfigMap"])
			}
			if volume := pod.Spec.Volumes[1].Secret.SecretName; name == "example" && all["Secret"][volume] == nil {
				t.Errorf("the pods want Secret %s, there is %v", volume, all["Secret"])
			}
			for name, object := range all["Service"] {
				checkService(t, name, object.(*corev1.Service).Spec, pod)
			}
			budget := one[policyv1.PodDisruptionBudget](t, all, "PodDisruptionBudget").Spec
			if left, err := intstr.GetScaledValueFromIntOrPercent(budget.MaxUnavailable, replicas, true); err != nil || left < 1 || left >= replicas {
				t.Errorf("the budget lets %d of %d pods go, %v", left, replicas, err)
			}
			if one[networkingv1.NetworkPolicy](t, all, "NetworkPolicy"); !selects(t, budget.Selector, pod) {
				t.Error("the budget is of no pod")
			}
			checkNetwork(t, one[networkingv1.NetworkPolicy](t, all, "NetworkPolicy").Spec)
			checkConfiguration(t, all["ConfigMap"][pod.Spec.Volumes[0].ConfigMap.Name], pod)
			if !selects(t, &one[networkingv1.NetworkPolicy](t, all, "NetworkPolicy").Spec.PodSelector, pod) || !selects(t, deployment.Spec.Selector, pod) {
				t.Error("the network policy or the deployment is of no pod")
			}
		})
	}
}

// checkNetwork: guests come through the ingress, operators from their own namespaces.
// Other pods have no access, because they could choose their X-Forwarded-For.
func checkNetwork(t *testing.T, policy networkingv1.NetworkPolicySpec) {
	t.Helper()
	got := map[string]string{}
	for _, rule := range policy.Ingress {
		for _, port := range rule.Ports {
			for _, peer := range rule.From {
				if peer.NamespaceSelector == nil || len(peer.NamespaceSelector.MatchLabels) == 0 {
					t.Errorf("port %s is open to %v", port.Port.String(), peer)
					continue
				}
				got[port.Port.String()] += metav1.FormatLabelSelector(peer.NamespaceSelector)
			}
			if len(rule.From) == 0 {
				t.Errorf("port %s is open to every pod", port.Port.String())
			}
		}
	}
	if want := map[string]string{"http": "larder/ingress=true", "ops": "larder/ops=true"}; !maps.Equal(got, want) {
		t.Errorf("the ports are open to %v, want %v", got, want)
	}
}

// checkConfiguration: the configuration has the listener of the probes, and trusts the
// X-Forwarded-For of few addresses only.
func checkConfiguration(t *testing.T, object any, pod corev1.PodTemplateSpec) {
	t.Helper()
	given, ok := object.(*corev1.ConfigMap)
	if !ok {
		t.Fatalf("the configuration is %v", object)
	}
	var cfg struct {
		HTTP struct {
			OpsListen      string   `json:"ops_listen"`
			TrustedProxies []string `json:"trusted_proxies"`
		} `json:"http"`
	}
	if err := yaml.Unmarshal([]byte(given.Data["larder.yaml"]), &cfg); err != nil {
		t.Fatal(err)
	}
	for _, port := range pod.Spec.Containers[0].Ports {
		if want := fmt.Sprintf("0.0.0.0:%d", port.ContainerPort); port.Name == "ops" && cfg.HTTP.OpsListen != want {
			t.Errorf("http.ops_listen is %q, the probes ask %s", cfg.HTTP.OpsListen, want)
		}
	}
	for _, proxy := range cfg.HTTP.TrustedProxies {
		if network, err := netip.ParsePrefix(proxy); err != nil || network.Bits() < 28 {
			t.Errorf("trusted_proxies has %s (%v), more than the addresses of an ingress controller", proxy, err)
		}
	}
}

func selects(t *testing.T, selector *metav1.LabelSelector, pod corev1.PodTemplateSpec) bool {
	t.Helper()
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Matches(labels.Set(pod.Labels))
}

// checkPod checks a pod against the restricted standard and larder's requirements.
func checkPod(t *testing.T, pod corev1.PodTemplateSpec) {
	t.Helper()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	strictest := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	for _, result := range evaluator.EvaluatePod(strictest, &pod.ObjectMeta, &pod.Spec) {
		if !result.Allowed {
			t.Errorf("pod security: %s: %s", result.ForbiddenReason, result.ForbiddenDetail)
		}
	}
	larder := pod.Spec.Containers[0]
	if rights := larder.SecurityContext; rights.ReadOnlyRootFilesystem == nil || !*rights.ReadOnlyRootFilesystem {
		t.Error("the pod may write to its root")
	}
	if !slices.Contains(larder.Env, corev1.EnvVar{Name: "LARDER_REDIS_SHARED", Value: "true"}) {
		t.Errorf("the pods do not say that they share their Redis: %v", larder.Env)
	}
	for name, probe := range map[string]*corev1.Probe{
		"liveness /livez": larder.LivenessProbe, "startup /livez": larder.StartupProbe, "readiness /readyz": larder.ReadinessProbe,
	} {
		_, path, _ := strings.Cut(name, " ")
		if probe == nil || probe.HTTPGet == nil || probe.HTTPGet.Path != path || !hasPort(larder, probe.HTTPGet.Port) {
			t.Errorf("the %s probe is %v", name, probe)
			continue
		}
		// Guests can fill their port; the probes must still get a response.
		if probe.HTTPGet.Port.StrVal != "ops" {
			t.Errorf("the %s probe asks port %s, which guests can fill", name, probe.HTTPGet.Port.String())
		}
	}
	if larder.Lifecycle == nil || larder.Lifecycle.PreStop == nil || larder.Lifecycle.PreStop.Sleep == nil {
		t.Error("there is no preStop that needs no shell")
	}
	if larder.Resources.Requests.Memory().IsZero() || larder.Resources.Limits.Memory().IsZero() || larder.Resources.Requests.Cpu().IsZero() {
		t.Errorf("the resources are %v", larder.Resources)
	}
	if len(pod.Spec.TopologySpreadConstraints) == 0 {
		t.Error("both replicas may stand on one node")
	}
	for _, constraint := range pod.Spec.TopologySpreadConstraints {
		if !selects(t, constraint.LabelSelector, pod) {
			t.Errorf("the spread over %s is of no pod", constraint.TopologyKey)
		}
	}
}

func checkService(t *testing.T, name string, service corev1.ServiceSpec, pod corev1.PodTemplateSpec) {
	t.Helper()
	if !selects(t, &metav1.LabelSelector{MatchLabels: service.Selector}, pod) {
		t.Errorf("service %s is of no pod", name)
	}
	for _, port := range service.Ports {
		if !hasPort(pod.Spec.Containers[0], port.TargetPort) {
			t.Errorf("service %s leads to %s, which no container has", name, port.TargetPort.String())
		}
	}
}

func hasPort(container corev1.Container, port intstr.IntOrString) bool {
	return slices.ContainsFunc(container.Ports, func(p corev1.ContainerPort) bool {
		return p.Name == port.StrVal && port.Type == intstr.String || p.ContainerPort == port.IntVal && port.Type == intstr.Int
	})
}

// The metrics component selects the service with the metrics.
func TestKubernetesMonitor(t *testing.T) {
	t.Parallel()
	folder := example(t)
	file := filepath.Join(folder, "kustomization.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(text, "components: [../monitor]\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	all := render(t, folder)
	ops, there := all["Service"]["larder-ops"].(*corev1.Service)
	if !there || len(all["ServiceMonitor"]) != 1 {
		t.Fatalf("rendered: %v", all)
	}
	monitor := *one[map[string]any](t, all, "ServiceMonitor")
	selector := fmt.Sprint(monitor["spec"].(map[string]any)["selector"])
	if want := "map[matchLabels:map[larder/part:" + ops.Labels["larder/part"] + "]]"; selector != want {
		t.Errorf("the monitor selects %s, want %s", selector, want)
	}
}

package chart

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"graphview.dev/test/installation"
)

// rendered converts a rendered object to its type.
func rendered[T any](t *testing.T, all []*unstructured.Unstructured, kind, name string) *T {
	t.Helper()
	object, typed := installation.Find(all, kind, name), new(T)
	if object == nil {
		t.Fatalf("there is no %s %s", kind, name)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, typed, true); err != nil {
		t.Fatal(err)
	}
	return typed
}

const memberValues = `fleet: {name: acme, member: {url: "wss://hub.example.com:8444/tunnel/v1/clusters/eu-1", tunnelMaxAge: 10m, `

func TestHub(t *testing.T) {
	all := objects(t, "{replicas: 3, fleet: {name: acme, clusterWait: 5s, hub: {enabled: true, certificateSecret: hub-tls, service: {type: LoadBalancer}}}, networkPolicy: {enabled: true, tunnelFrom: [{ipBlock: {cidr: 10.0.0.0/8}}]}, ports: {tunnel: 9444}}")
	pod := rendered[appsv1.Deployment](t, all, "Deployment", "graphview-manager").Spec.Template.Spec
	for _, want := range []string{"--hub-name=acme", "--tunnel-bind-address=:9444", "--cluster-wait=5s", "--tunnel-cert-dir=/tunnel-certificates"} {
		if !slices.Contains(pod.Containers[0].Args, want) {
			t.Errorf("%s is missing in %v", want, pod.Containers[0].Args)
		}
	}
	if !slices.Contains(pod.Containers[0].Ports, corev1.ContainerPort{Name: "tunnel", ContainerPort: 9444, Protocol: corev1.ProtocolTCP}) {
		t.Errorf("ports %v", pod.Containers[0].Ports)
	}
	if !slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Secret != nil && v.Secret.SecretName == "hub-tls" }) {
		t.Errorf("volumes %v", pod.Volumes)
	}
	service := rendered[corev1.Service](t, all, "Service", "graphview-tunnel").Spec
	if service.Type != corev1.ServiceTypeLoadBalancer || len(service.Ports) != 1 || service.Ports[0].Port != 8444 || service.Ports[0].TargetPort.StrVal != "tunnel" {
		t.Errorf("Service %v", service)
	}
	policy := rendered[networkingv1.NetworkPolicy](t, all, "NetworkPolicy", "graphview-manager").Spec
	if !slices.ContainsFunc(policy.Ingress, func(rule networkingv1.NetworkPolicyIngressRule) bool {
		return rule.Ports[0].Port.StrVal == "tunnel" && len(rule.From) == 1 && rule.From[0].IPBlock.CIDR == "10.0.0.0/8"
	}) {
		t.Errorf("NetworkPolicy %v", policy)
	}
}

func TestMember(t *testing.T) {
	for name, test := range map[string]struct{ values, wantSource string }{
		"with the CAs of the system": {memberValues + "}}", ""},
		"with a Secret":              {memberValues + "caSecret: hub-ca}}", "secret hub-ca"},
		"with a bundle":              {memberValues + `caBundle: "-----BEGIN CERTIFICATE-----"}}`, "configmap graphview-hub-ca"},
	} {
		t.Run(name, func(t *testing.T) {
			all := objects(t, test.values)
			deployed := rendered[appsv1.Deployment](t, all, "Deployment", "graphview-manager").Spec.Template
			want := []string{"--hub-name=acme", "--hub-url=wss://hub.example.com:8444/tunnel/v1/clusters/eu-1", "--tunnel-max-age=10m"}
			if test.wantSource != "" {
				want = append(want, "--hub-ca-file=/var/run/secrets/graphview.dev/hub/ca.crt")
			}
			container := deployed.Spec.Containers[0]
			for _, arg := range want {
				if !slices.Contains(container.Args, arg) {
					t.Errorf("%s is missing in %v", arg, container.Args)
				}
			}
			if got := slices.ContainsFunc(container.Args, func(arg string) bool { return strings.HasPrefix(arg, "--hub-ca-file") }); got != (test.wantSource != "") {
				t.Errorf("arguments %v", container.Args)
			}
			if slices.ContainsFunc(container.Args, func(arg string) bool { return strings.HasPrefix(arg, "--tunnel-bind-address") }) || installation.Find(all, "Service", "graphview-tunnel") != nil {
				t.Error("it is also a hub")
			}
			at := slices.IndexFunc(deployed.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == "hub" })
			if at < 0 {
				t.Fatalf("volumes %v", deployed.Spec.Volumes)
			}
			sources := deployed.Spec.Volumes[at].Projected.Sources
			if token := sources[0].ServiceAccountToken; token == nil || token.Audience != "acme" || token.Path != "token" {
				t.Errorf("token %v", token)
			}
			source := ""
			for _, s := range sources[1:] {
				switch {
				case s.Secret != nil:
					source = "secret " + s.Secret.Name
				case s.ConfigMap != nil:
					source = "configmap " + s.ConfigMap.Name
				}
			}
			if source != test.wantSource {
				t.Errorf("CAs are from %q, want %q", source, test.wantSource)
			}
			if !slices.ContainsFunc(container.VolumeMounts, func(m corev1.VolumeMount) bool {
				return m.Name == "hub" && m.MountPath+"/token" == hubTokenFile(t)
			}) {
				t.Errorf("the token is not at the default of --hub-token-file: %v", container.VolumeMounts)
			}
		})
	}
}

// hubTokenFile returns the default of --hub-token-file, as the operator prints it.
func hubTokenFile(t *testing.T) string {
	t.Helper()
	binary, err := manager()
	if err != nil {
		t.Fatal(err)
	}
	out, _ := exec.CommandContext(t.Context(), binary, "--help").CombinedOutput() // help ends with a code of its own
	_, rest, _ := strings.Cut(string(out), "-hub-token-file")
	_, rest, _ = strings.Cut(rest, `(default "`)
	path, _, _ := strings.Cut(rest, `"`)
	return path
}

// TestDocumentedFleetValues renders the values in docs/fleet.md.
func TestDocumentedFleetValues(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "fleet.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := 0
	for _, block := range valuesBlock.FindAllStringSubmatch(strings.ReplaceAll(string(page), "\n   ", "\n"), -1) {
		if strings.HasPrefix(block[1], "fleet:") {
			objects(t, block[1])
			blocks++
		}
	}
	if blocks != 2 {
		t.Errorf("%d blocks of values, want those of a hub and of a member", blocks)
	}
}

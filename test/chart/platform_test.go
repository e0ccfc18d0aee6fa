package chart

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/installation"
)

func TestSecurityContexts(t *testing.T) {
	t.Run("the default names no user because OpenShift chooses one", func(t *testing.T) {
		all, err := env.Objects(string(template(t, "{}")))
		if err != nil {
			t.Fatal(err)
		}
		for name, pod := range map[string]corev1.PodSpec{
			"the operator": rendered[appsv1.Deployment](t, all, "Deployment", "graphview-manager").Spec.Template.Spec,
			"helm test":    rendered[corev1.Pod](t, all, "Pod", "graphview-check").Spec,
		} {
			s, c := pod.SecurityContext, pod.Containers[0].SecurityContext
			if s.RunAsUser != nil || s.RunAsGroup != nil || s.RunAsNonRoot == nil || !*s.RunAsNonRoot || s.SeccompProfile == nil || c.AllowPrivilegeEscalation == nil || *c.AllowPrivilegeEscalation {
				t.Errorf("%s: %v %v", name, s, c)
			}
		}
	})
	t.Run("values add to the default", func(t *testing.T) {
		pod := rendered[appsv1.Deployment](t, objects(t, "{podSecurityContext: {runAsUser: 1234}, securityContext: {readOnlyRootFilesystem: null}}"), "Deployment", "graphview-manager").Spec.Template.Spec
		if s := pod.SecurityContext; s.RunAsUser == nil || *s.RunAsUser != 1234 || s.RunAsNonRoot == nil || pod.Containers[0].SecurityContext.ReadOnlyRootFilesystem != nil {
			t.Errorf("%v %v", s, pod.Containers[0].SecurityContext)
		}
	})
}

func TestImageRegistry(t *testing.T) {
	for repository, want := range map[string]string{
		"graphview.dev/manager": "mirror.example.com/team/manager:dev", "localhost:5000/a/manager": "mirror.example.com/team/a/manager:dev", "library/manager": "mirror.example.com/team/library/manager:dev",
	} {
		all, err := env.Objects(string(template(t, "{global: {imageRegistry: mirror.example.com/team}, image: {tag: dev, repository: \""+repository+"\"}}")))
		if err != nil {
			t.Fatal(err)
		}
		operator := rendered[appsv1.Deployment](t, all, "Deployment", "graphview-manager").Spec.Template.Spec.Containers[0].Image
		check := rendered[corev1.Pod](t, all, "Pod", "graphview-check").Spec.Containers[0].Image
		if operator != want || check != want {
			t.Errorf("%s becomes %s and %s, want %s", repository, operator, check, want)
		}
	}
}

func TestExtraObjects(t *testing.T) {
	all := objects(t, `extraObjects:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: "{{ .Release.Name }}-object"}}
- |
  apiVersion: v1
  kind: ConfigMap
  metadata: {name: text, namespace: {{ .Release.Namespace }}}`)
	rendered[corev1.ConfigMap](t, all, "ConfigMap", "graphview-object")
	if c := rendered[corev1.ConfigMap](t, all, "ConfigMap", "text"); c.Namespace != env.ServiceNamespace {
		t.Errorf("namespace %q", c.Namespace)
	}
}

func TestPage(t *testing.T) {
	all := objects(t, `{dashboard: {enabled: true}, grafanaDashboard: {enabled: true}, ingress: {enabled: true, host: graphs.example.com, annotations: {nginx.ingress.kubernetes.io/proxy-buffering: null}}, httpRoute: {enabled: true, parentRefs: [{name: web}]}}`)
	board := rendered[corev1.ConfigMap](t, all, "ConfigMap", "graphview-dashboard")
	var content struct{ Panels []any }
	if err := json.Unmarshal([]byte(board.Data["graphview.json"]), &content); err != nil || len(content.Panels) == 0 || board.Labels["grafana_dashboard"] != "1" {
		t.Errorf("%d panels, labels %v: %v", len(content.Panels), board.Labels, err)
	}
	ingress := rendered[networkingv1.Ingress](t, all, "Ingress", "graphview")
	if paths := ingress.Spec.Rules[0].HTTP.Paths; len(paths) != 2 || paths[0].Backend.Service.Name != "graphview" || paths[0].Backend.Service.Port.Name != "stream" {
		t.Errorf("paths %v", paths)
	}
	if a := ingress.Annotations; len(a) != 2 || a["nginx.ingress.kubernetes.io/backend-protocol"] != "HTTPS" {
		t.Errorf("annotations %v", a)
	}
	if installation.Find(all, "HTTPRoute", "graphview") == nil {
		t.Error("there is no HTTPRoute")
	}
	for _, object := range objects(t, "{}") {
		if kind := object.GetKind(); kind == "Ingress" || kind == "HTTPRoute" || kind == "ConfigMap" {
			t.Errorf("%s %s is made by default", kind, object.GetName())
		}
	}
}

// TestLogin: what leads to the page leads to the login, which verifies the operator's certificate.
func TestLogin(t *testing.T) {
	const login = `dashboard: {enabled: true}
certificates: {source: certManager}
global: {imageRegistry: mirror.example.com}
networkPolicy: {enabled: true, from: [{podSelector: {}}]}
httpRoute: {enabled: true, parentRefs: [{name: web}], hostnames: [graphs.example.com]}
ingress: {enabled: true, host: graphs.example.com}
login: {enabled: true, issuerURL: "https://login.example.com", clientID: kubernetes}`
	all := objects(t, login)
	pod := rendered[appsv1.Deployment](t, all, "Deployment", "graphview-login").Spec.Template
	container := pod.Spec.Containers[0]
	for _, want := range []string{"--oidc-issuer-url=https://login.example.com", "--redirect-url=https://graphs.example.com/oauth2/callback", "--upstream=https://graphview.graphview-system.svc/", "--pass-authorization-header=true", "--scope=openid email profile", "--api-route=^/apis/"} {
		if !slices.Contains(container.Args, want) {
			t.Errorf("arguments %v, want %s", container.Args, want)
		}
	}
	if !strings.HasPrefix(container.Image, "mirror.example.com/oauth2-proxy/") || pod.Spec.Volumes[0].Secret.Items[0].Key != "ca.crt" {
		t.Errorf("image %s, volumes %v", container.Image, pod.Spec.Volumes)
	}
	service := rendered[corev1.Service](t, all, "Service", "graphview-login")
	for name, value := range service.Spec.Selector {
		if pod.Labels[name] != value {
			t.Errorf("the Service selects %s=%s, the pod has %v", name, value, pod.Labels)
		}
	}
	ingress := rendered[networkingv1.Ingress](t, all, "Ingress", "graphview")
	if paths := ingress.Spec.Rules[0].HTTP.Paths; len(paths) != 1 || paths[0].Path != "/" || paths[0].Backend.Service.Name != service.Name || paths[0].Backend.Service.Port.Name != service.Spec.Ports[0].Name {
		t.Errorf("paths %v", paths)
	}
	if _, ok := ingress.Annotations["nginx.ingress.kubernetes.io/backend-protocol"]; ok {
		t.Error("the Ingress speaks TLS to the login")
	}
	rules, _, _ := unstructured.NestedSlice(installation.Find(all, "HTTPRoute", "graphview").Object, "spec", "rules")
	if text := fmt.Sprint(rules); !strings.Contains(text, "graphview-login") || strings.Contains(text, "graphs") {
		t.Errorf("rules %s", text)
	}
	policy := rendered[networkingv1.NetworkPolicy](t, all, "NetworkPolicy", "graphview-manager")
	if from := policy.Spec.Ingress[0].From; len(from) != 2 || from[1].PodSelector.MatchLabels["app.kubernetes.io/component"] != "login" {
		t.Errorf("the operator is reached from %v", from)
	}
}

// TestWorkloadRights asks the API server what the operator may do with rbac.read workloads.
func TestWorkloadRights(t *testing.T) {
	all := objects(t, "rbac: {read: workloads}")
	for _, rule := range rendered[rbacv1.ClusterRole](t, all, "ClusterRole", "graphview-manager").Rules {
		if slices.Contains(rule.Resources, "*") || slices.Contains(rule.APIGroups, "*") || slices.Contains(rule.Verbs, "*") || slices.Contains(rule.Resources, "secrets") {
			t.Errorf("the rule %v is too wide to sign", rule)
		}
	}
	var text strings.Builder
	for _, object := range all {
		if kind := object.GetKind(); kind == "ClusterRole" || kind == "ClusterRoleBinding" {
			one, err := yaml.Marshal(object.Object)
			if err != nil {
				t.Fatal(err)
			}
			text.WriteString("---\n" + string(one))
		}
	}
	fixture.ApplyForTest(t, plane, text.String())
	api := asOperator(t)
	eventually(t, func() string {
		for question, want := range map[string]bool{
			"list pods": true, "watch deployments.apps": true, "list ingresses.networking.k8s.io": true, "list serviceaccounts": true,
			"list secrets": false, "get pods": false, "list nodes": false, "list roles.rbac.authorization.k8s.io": false, "list widgets.example.com": false,
		} {
			if got := may(t, api, question); got != want {
				return fmt.Sprintf("may %s: %t, want %t", question, got, want)
			}
		}
		return ""
	})
}

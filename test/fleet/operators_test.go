package fleet

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/operator"
)

const operatorsView = `
apiVersion: v1
kind: Namespace
metadata: {name: far}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: one, namespace: far}
---
apiVersion: graphview.dev/v1alpha1
kind: GraphView
metadata: {name: view, namespace: far}
spec:
  namespaces: {names: [far]}
  queries: [{include: {resourceSelectorExpression: "group == '' && resource == 'configmaps'"}}]
`

// remoteKinds are kinds whose objects refer to other clusters.
const remoteKinds = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: applications.argoproj.io}
spec:
  group: argoproj.io
  names: {kind: Application, plural: applications}
  scope: Namespaced
  versions: [{name: v1alpha1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: clusters.cluster.x-k8s.io, annotations: {api-approved.kubernetes.io: unapproved}}
spec:
  group: cluster.x-k8s.io
  names: {kind: Cluster, plural: clusters}
  scope: Namespaced
  versions: [{name: v1beta2, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: machines.cluster.x-k8s.io, annotations: {api-approved.kubernetes.io: unapproved}}
spec:
  group: cluster.x-k8s.io
  names: {kind: Machine, plural: machines}
  scope: Namespaced
  versions: [{name: v1beta2, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`

const remoteViews = `
apiVersion: v1
kind: Namespace
metadata: {name: argocd}
---
apiVersion: graphview.dev/v1alpha1
kind: GraphView
metadata: {name: applications, namespace: argocd}
spec:
  queries: [{include: {resourceSelectorExpression: "group == 'argoproj.io'"}}]
---
apiVersion: graphview.dev/v1alpha1
kind: GraphView
metadata: {name: fleet, namespace: argocd}
spec:
  queries: [{include: {resourceSelectorExpression: "group == 'cluster.x-k8s.io'"}}]
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: app, namespace: argocd}
spec: {project: default, destination: {server: "https://far.example.com", namespace: far}}
status: {resources: [{kind: ConfigMap, name: one, namespace: far, version: v1}]}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: far, namespace: argocd}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Machine
metadata: {name: far-1, namespace: argocd}
spec: {clusterName: far}
status: {nodeRef: {name: node-1}}
`

// startOperators starts the built operator as a hub of two replicas and as a member, with the rights of
// config only. They are connected, and the member has a view.
func startOperators(t testing.TB) (far *env.ControlPlane, hub *operator.Hub, member *operator.Operator) {
	t.Helper()
	root, err := env.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	binary, err := fixture.Build(t.Context(), root, "manager", fixture.Race...)
	if err != nil {
		t.Fatal(err)
	}
	far = memberPlanes[0]
	for _, plane := range []*env.ControlPlane{hubPlane, far} {
		if err := operator.Install(t.Context(), plane, root); err != nil {
			t.Fatal(err)
		}
	}
	hub, err = operator.StartHub(hubPlane, operator.Options{Binary: binary})
	t.Cleanup(hub.Close)
	if err != nil {
		t.Fatal(err)
	}
	member, err = hub.Join(t.Context(), "far-1", "Far", far, operator.Options{Binary: binary, Name: "member"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(member.Kill)
	fixture.Apply(t, far, operatorsView)
	fixture.Kubectl(t, far, "wait", "--for=condition=Ready", "graphview/view", "-n", "far", fixture.Timeout())
	fixture.Kubectl(t, hubPlane, "wait", "--for=condition=Ready", "clusterlink/far-1", fixture.Timeout())
	return far, hub, member
}

// TestOperators: the built operator is a hub of two replicas and a member with the rights of config
// only. kubectl at the hub reads a member's graph through the API server from either replica, and
// not while the link is suspended.
func TestOperators(t *testing.T) {
	far, hub, _ := startOperators(t)
	if err := hub.Register(t.Context()); err != nil {
		t.Fatal(err)
	}
	root, err := env.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}

	const path = "/apis/stream.graphview.dev/v1alpha1/clusters/far-1/proxy/apis/stream.graphview.dev/v1alpha1/namespaces/far/graphs/view"
	read := func() (names []string, failure string) {
		out, err := hubPlane.Kubectl(t.Context(), "get", "--raw", path+"?timeout=1s")
		if err != nil {
			return nil, err.Error()
		}
		var message struct {
			Actions []struct {
				SetVertex *struct {
					Vertex struct {
						Name string `json:"n"`
					} `json:"vx"`
				} `json:"svx"`
			} `json:"actions"`
		}
		if err := json.Unmarshal(out, &message); err != nil {
			t.Fatal(err)
		}
		for _, a := range message.Actions {
			if a.SetVertex != nil {
				names = append(names, a.SetVertex.Vertex.Name)
			}
		}
		slices.Sort(names)
		return names, ""
	}
	fixture.Eventually(t, 90*time.Second, 200*time.Millisecond, func() string {
		// The API server has a new address for the hub.
		if _, failure := read(); !strings.Contains(failure, "orbidden") {
			return "without rights in the member: " + failure
		}
		return ""
	})
	fixture.Kubectl(t, far, "create", "clusterrolebinding", "hub", "--clusterrole=cluster-admin", "--group="+operator.MemberGroup("system:masters"))
	shows := func(want []string, wantFailure string) {
		t.Helper()
		fixture.Eventually(t, 90*time.Second, 200*time.Millisecond, func() string {
			names, failure := read()
			if wantFailure == "" || !strings.Contains(failure, wantFailure) {
				return cmp.Diff(want, names) + failure
			}
			return ""
		})
	}
	shows([]string{"one"}, "")
	plugin, err := fixture.Build(t.Context(), root, "kubectl-graphview")
	if err != nil {
		t.Fatal(err)
	}
	type called struct {
		args, want string
		code       int
	}
	call := func(all ...called) {
		t.Helper()
		for _, one := range all {
			// One replica answers, and another one, which may be ahead of it, writes status.
			fixture.Eventually(t, 30*time.Second, 200*time.Millisecond, func() string {
				command := exec.CommandContext(t.Context(), plugin, strings.Fields(one.args)...)
				command.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(hubPlane.Dir(), "kubeconfig"))
				stdout, stderr, code := fixture.Run(t, command)
				if code != one.code || !strings.Contains(stdout+stderr, one.want) {
					available := fixture.Kubectl(t, hubPlane, "get", "apiservice", "v1alpha1.stream.graphview.dev", "-o", "jsonpath={.status.conditions}")
					return fmt.Sprintf("kubectl graphview %s: exit code %d, %s%s; APIService: %s", one.args, code, stdout, stderr, available)
				}
				return ""
			})
		}
	}
	call([]called{
		{"list -A --link far-1", "far         view   true    1         0", 0},
		{"tree view -n far --link far-1", "ConfigMap/one", 0},
		{"problems -A --link far-1", "No problems in 1 graph.", 0},
		{"impact cm/one -n far --in view --link far-1", "ConfigMap/one", 0},
		{"impact cm/one -n far --link far-1", "name a GraphView of that cluster with --in", 2},
		{"tree vew -n far --link far-1", "kubectl graphview list -A --link far-1", 1},
		{"list -A --link near", "kubectl get clusterlinks", 1},
		{"tree -n far --link far-1 --local", "leave one of them out", 2},
		{"list -A --all-links", "far-1     far         view   true    1         0", 0},
		{"problems -A --all-links", "No problems in 1 graph.", 0},
		{"list -A --all-links --link far-1", "leave it or --all-links out", 2},
		{"problems view --all-links", "leave view or --all-links out", 2},
	}...)
	links(t, plugin, far, hub.Address())
	// The objects that an Application of the hub deploys in the member are a part of the Application.
	fixture.Apply(t, hubPlane, remoteKinds)
	fixture.Kubectl(t, hubPlane, "wait", "--for=condition=Established", "crd", "--all", fixture.Timeout())
	fixture.Apply(t, hubPlane, remoteViews)
	for view, objects := range map[string]string{"applications": "1", "fleet": "2"} {
		fixture.Kubectl(t, hubPlane, "wait", "--for=jsonpath={.status.vertices}="+objects, "graphview/"+view, "-n", "argocd", fixture.Timeout())
	}
	call([]called{
		{"tree applications -n argocd", "ConfigMap/far/one  in another cluster: argocd:https://far.example.com", 0},
		{"tree fleet -n argocd", "the cluster capi:argocd/far", 0},
	}...)
	fixture.Kubectl(t, hubPlane, "patch", "clusterlink", "far-1", "--type=merge", "-p", `{"spec":{"knownAs":[{"type":"argocd","name":"https://far.example.com"},{"type":"capi","name":"argocd/far"}]}}`)
	fixture.Eventually(t, 90*time.Second, 200*time.Millisecond, func() string {
		out, err := hubPlane.Kubectl(t.Context(), "get", "--raw", "/apis/stream.graphview.dev/v1alpha1/clusters")
		if err != nil || !strings.Contains(string(out), `"aliases":["argocd:https://far.example.com","capi:argocd/far"]`) {
			return fmt.Sprintf("/clusters: %v, %s", err, out)
		}
		return ""
	})
	call([]called{
		{"tree applications -n argocd", "ConfigMap/far-1/far/one  in another cluster", 0},
		{"explain applications application/app -n argocd", "Refers to, in other clusters:\n  ConfigMap/far-1/far/one\n  Namespace/far-1/far\n", 0},
		{"tree fleet -n argocd", "the cluster far-1", 0},
		{"tree fleet -n argocd", "Node/far-1/node-1  in another cluster", 0},
	}...)
	// The other replica of the hub has a tunnel too.
	if err := hub.Other.Register(t.Context()); err != nil {
		t.Fatal(err)
	}
	fixture.Kubectl(t, far, "create", "configmap", "two", "-n", "far")
	shows([]string{"one", "two"}, "")
	fixture.Kubectl(t, hubPlane, "patch", "clusterlink", "far-1", "--type=merge", "-p", `{"spec":{"suspend":true}}`)
	shows(nil, "not connected")
	// The hub has waited, so kubectl does not ask again.
	if _, err := hubPlane.Kubectl(t.Context(), "get", "--raw", path+"?timeout=1s", "-v=6"); err == nil || strings.Count(err.Error(), `status="503`) != 1 {
		t.Errorf("kubectl does not ask once for a cluster that is not connected: %v", err)
	}
	call([]called{
		{"list -A --all-links", "far-1     -           -      unreachable   -         -", 1},
		{"problems -A --all-links", "far-1     -        unreachable   -       not connected: Suspended", 1},
		{"problems -A --all-links -o json", `"reason": "not connected: Suspended: spec.suspend is set."`, 1},
	}...)
	fixture.Kubectl(t, hubPlane, "patch", "clusterlink", "far-1", "--type=merge", "-p", `{"spec":{"suspend":false}}`)
	shows([]string{"one", "two"}, "")
}

// links compares the output of kubectl graphview link with the ClusterLink of the connected member and
// with the address at which the member connects.
func links(t *testing.T, plugin string, member *env.ControlPlane, tunnel string) {
	t.Helper()
	both, err := clientcmd.Load(env.Kubeconfig(hubPlane.Config()))
	if err != nil {
		t.Fatal(err)
	}
	far, err := clientcmd.Load(env.Kubeconfig(member.Config()))
	if err != nil {
		t.Fatal(err)
	}
	of := far.Contexts[far.CurrentContext]
	both.Clusters["far"], both.AuthInfos["far"] = far.Clusters[of.Cluster], far.AuthInfos[of.AuthInfo]
	both.Contexts["far"] = &clientcmdapi.Context{Cluster: "far", AuthInfo: "far"}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*both, file); err != nil {
		t.Fatal(err)
	}
	link := func(args ...string) (stdout, stderr string, code int) {
		command := exec.CommandContext(t.Context(), plugin, append([]string{"link"}, args...)...)
		command.Env = append(os.Environ(), "KUBECONFIG="+file)
		return fixture.Run(t, command)
	}
	_, port, _ := strings.Cut(tunnel, ":")
	text, stderr, code := link("far-1", "--member-context=far", "--display-name=Far", "--hub-name=local", "--hub=wss://localhost:"+port)
	if code != 0 || !strings.Contains(text, "#       url: "+operator.MemberURL(tunnel, "far-1")+"\n") {
		t.Fatalf("link: %d, %s%s", code, text, stderr)
	}
	in := func() (l v1alpha1.ClusterLink) {
		out := fixture.Kubectl(t, hubPlane, "get", "clusterlink", "far-1", "-o", "json")
		if err := json.Unmarshal([]byte(out), &l); err != nil {
			t.Fatal(err)
		}
		l.Spec.Identity.JWKS = strings.TrimSpace(l.Spec.Identity.JWKS)
		return l
	}
	before := in()
	fixture.Apply(t, hubPlane, text)
	if diff := cmp.Diff(before.Spec, in().Spec); diff != "" {
		t.Errorf("the ClusterLink of the plugin differs: %s", diff)
	}
	for want, args := range map[string][]string{
		"is not the NAME of a ClusterLink":     {"Far"},
		"expected the NAME of the ClusterLink": {},
		"is not NAMESPACE/NAME":                {"far-1", "--service-account=manager"},
		"is no address such as wss://":         {"far-1", "--hub=https://hub.example.com"},
	} {
		if _, stderr, code := link(args...); code != 2 || !strings.Contains(stderr, want) {
			t.Errorf("link %q: %d, %s; want %q", args, code, stderr, want)
		}
	}
	if _, stderr, code := link("far-1", "--member-context=nosuch"); code != 1 || !strings.Contains(stderr, "nosuch") {
		t.Errorf("link from a context that is not there: %d, %s", code, stderr)
	}
}

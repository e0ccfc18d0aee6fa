package graphview

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/advice"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/spec"
)

var update = flag.Bool("update", false, "write the table of docs/measured/mistakes.md")

// usualCluster serves what most clusters do, and Argo CD.
func usualCluster() *resources.Catalog {
	var all []resources.Resource
	add := func(group, version string, kinds ...string) {
		for _, both := range kinds {
			kind, resource, _ := strings.Cut(both, "/")
			namespaced := !strings.HasSuffix(resource, "!")
			all = append(all, resources.Resource{Group: group, Version: version, Kind: kind, Resource: strings.TrimSuffix(resource, "!"), Namespaced: namespaced})
		}
	}
	add("", "v1", "Pod/pods", "Service/services", "ConfigMap/configmaps", "Secret/secrets", "Event/events", "Node/nodes!", "Namespace/namespaces!",
		"PersistentVolumeClaim/persistentvolumeclaims", "ServiceAccount/serviceaccounts", "Endpoints/endpoints")
	add("apps", "v1", "Deployment/deployments", "ReplicaSet/replicasets", "StatefulSet/statefulsets", "DaemonSet/daemonsets")
	add("batch", "v1", "Job/jobs", "CronJob/cronjobs")
	add("networking.k8s.io", "v1", "Ingress/ingresses", "NetworkPolicy/networkpolicies", "IngressClass/ingressclasses!")
	add("policy", "v1", "PodDisruptionBudget/poddisruptionbudgets")
	add("autoscaling", "v1", "HorizontalPodAutoscaler/horizontalpodautoscalers")
	add("autoscaling", "v2", "HorizontalPodAutoscaler/horizontalpodautoscalers")
	add("rbac.authorization.k8s.io", "v1", "Role/roles", "RoleBinding/rolebindings", "ClusterRole/clusterroles!")
	add("argoproj.io", "v1alpha1", "Application/applications", "AppProject/appprojects")
	return resources.NewCatalog(all, nil)
}

// typos are what people write, and what they are told. In what is not queries, the
// query is true.
var typos = []struct {
	query string // of resources
	more  []string
	root  string
	// object is a root in YAML.
	object string
	names  []string
	want   []string // what is said, without paths; none: nothing
}{
	// Those of a first evaluation.
	{query: "resource == 'pod'", want: []string{"it matches nothing: the cluster serves no resource 'pod'; did you mean 'pods'?"}},
	{query: "group == 'core'", want: []string{"it matches nothing: the cluster serves no group 'core': the core group is the empty text; did you mean group == ''?"}},
	{root: "resource == 'deployment'", want: []string{"the cluster serves no resource 'deployment'; did you mean 'deployments'?", noRoot}},
	{query: "true", more: []string{"resource == 'events'"}, want: []string{"it decides nothing: whatever it matches is decided by an earlier query, such as spec.queries[0]; the first that matches decides, so put the narrower one first"}},
	{names: []string{"ordres"}, want: []string{"there is no namespace 'ordres'; did you mean 'orders'?"}},

	// Names of resources.
	{query: "resource == 'Pod'", want: []string{"it matches nothing: the cluster serves no resource 'Pod'; did you mean 'pods' or kind == 'Pod'?"}},
	{query: "resource == 'svc'", want: []string{"it matches nothing: the cluster serves no resource 'svc'; did you mean 'services'?"}},
	{query: "resource == 'deployments.apps'", want: []string{"it matches nothing: the cluster serves no resource 'deployments.apps': a group is no part of a resource; did you mean group == 'apps' && resource == 'deployments'?"}},
	{query: "resource == 'apps/v1/deployments'", want: []string{"it matches nothing: the cluster serves no resource 'apps/v1/deployments': a group is no part of a resource; did you mean group == 'apps' && resource == 'deployments'?"}},
	{query: "resource == 'pods/log'", want: []string{"it matches nothing: the cluster serves no resource 'pods/log': subresources are no objects; did you mean 'pods'?"}},
	{query: "resource == 'pods,services'", want: []string{"it matches nothing: the cluster serves no resource 'pods,services': several names are a list: resource in ['…', '…']"}},
	{query: "resource == 'networkpolicys'", want: []string{"it matches nothing: the cluster serves no resource 'networkpolicys'; did you mean 'networkpolicies'?"}},
	{query: "resource == 'statefulset' || resource == 'deployments'", want: []string{"the cluster serves no resource 'statefulset'; did you mean 'statefulsets'?"}},
	{query: "resource in ['pods', 'serivces']", want: []string{"the cluster serves no resource 'serivces'; did you mean 'services'?"}},
	{query: "resource == '*'", want: []string{"it matches nothing: the cluster serves no resource '*': names have no patterns; leave the comparison out to match all"}},

	// Kinds.
	{query: "kind == 'pods'", want: []string{"it matches nothing: the cluster serves no kind 'pods'; did you mean 'Pod'?"}},
	{query: "kind == 'deployment'", want: []string{"it matches nothing: the cluster serves no kind 'deployment'; did you mean 'Deployment'?"}},
	{query: "kind == 'Deploymnet'", want: []string{"it matches nothing: the cluster serves no kind 'Deploymnet'; did you mean 'Deployment'?"}},
	{query: "kind == 'PodList'", want: []string{"it matches nothing: the cluster serves no kind 'PodList'; did you mean 'Pod'?"}},
	{query: "kind == 'Deployment.apps'", want: []string{"it matches nothing: the cluster serves no kind 'Deployment.apps': a group is no part of a kind; did you mean group == 'apps' && kind == 'Deployment'?"}},

	// Groups and versions.
	{query: "group == 'v1'", want: []string{"it matches nothing: the cluster serves no group 'v1': the core group is the empty text; did you mean group == ''?"}},
	{query: "group == 'apps/v1'", want: []string{"it matches nothing: the cluster serves no group 'apps/v1': a version is no part of a group; did you mean group == 'apps' && version == 'v1'?"}},
	{query: "group == 'networking'", want: []string{"it matches nothing: the cluster serves no group 'networking'; did you mean 'networking.k8s.io'?"}},
	{query: "group == 'Apps'", want: []string{"it matches nothing: the cluster serves no group 'Apps'; did you mean 'apps'?"}},
	{query: "group == 'argoprj.io'", want: []string{"it matches nothing: the cluster serves no group 'argoprj.io'; did you mean 'argoproj.io'?"}},
	{query: "group == 'extensions'", want: []string{"it matches nothing: the cluster serves no group 'extensions': what it had is in 'apps' and 'networking.k8s.io'"}},
	{query: "group == 'events.k8s.io'", want: []string{"it matches nothing: the cluster serves no group 'events.k8s.io': its Events are those of the core group, ''"}},
	{query: "group == '' && resource == 'deployments'", want: []string{"it matches nothing: deployments is of group 'apps'"}},
	{query: "group == 'apps' && kind == 'Ingress'", want: []string{"it matches nothing: Ingress is of group 'networking.k8s.io'"}},
	{query: "version == 'apps/v1' && resource == 'deployments'", want: []string{"it matches nothing: the cluster serves no version 'apps/v1': a group is no part of a version; did you mean group == 'apps' && version == 'v1'?"}},
	{query: "resource == 'cronjobs' && version == 'v1beta1'", want: []string{"it matches nothing: cronjobs is served in version 'v1'"}},
	{query: "resource == 'ingresses' && version == 'v2'", want: []string{"it matches nothing: ingresses is served in version 'v1'"}},
	{query: "group == 'cert-manager.io'", want: []string{"it matches nothing: the cluster serves no group 'cert-manager.io': is its CustomResourceDefinition installed?"}},

	// Roots and namespaces.
	{query: "resource == 'pods'", root: "resource == 'deployments' && name == 'web'", want: []string{noRoot, "the queries do not select resource 'deployments'"}},
	{root: "kind == 'Deployment' && group == '' && name == 'web'", want: []string{noRoot, "Deployment is of group 'apps'"}},
	{root: "obj.kind == 'pod'", want: []string{"the cluster serves no kind 'pod'; did you mean 'Pod'?", noRoot}},
	{root: "namespace == 'shop' && name == 'web'", names: []string{"orders"}, want: []string{noRoot, "spec.namespaces does not name 'shop'"}},
	{root: "name == 'web'", want: []string{noRoot}},
	{object: "{kind: Deploymnet, name: web}", want: []string{"the cluster serves no kind 'Deploymnet'; did you mean 'Deployment'?", noRoot}},
	{object: "{group: core, kind: Pod}", want: []string{"the cluster serves no group 'core': the core group is the empty text; did you mean group == ''?", noRoot}},
	{query: "resource == 'pods'", object: "{kind: Deployment, name: web}", want: []string{noRoot, "the queries do not select kind 'Deployment'"}},
	{object: "{helmRelease: pay}", want: []string{noRoot, "the queries select no deployed or pending release of Helm that is named 'pay'"}},
	{object: "{argoApplication: orders, namespace: argocd}", want: []string{noRoot, "the queries select no Application of Argo CD that is named 'orders' in namespace 'argocd'"}},
	{object: "{fluxKustomization: apps}", want: []string{noRoot, "the cluster serves no group 'kustomize.toolkit.fluxcd.io': is its CustomResourceDefinition installed?"}},
	{names: []string{"elsewhere"}, want: []string{"there is no namespace 'elsewhere'; what is in it is shown when it is created"}},

	// Names that are served, or that may be served later.
	{query: "group in ['', 'apps', 'cert-manager.io']"},
	{query: "resource in ['pods', 'httproutes']"},
	{query: "resource != 'events' && kind != 'Lease'"},
	{query: "!(group in ['metrics.k8s.io'])", want: []string{"the cluster serves no group 'metrics.k8s.io': its objects cannot be watched"}},
}

const noRoot = "no object is a root, so nothing is visible; an object that becomes one is shown at once"

// TestTypos holds what people are told about parts of a spec that have no effect, and
// docs/measured/mistakes.md. With -update it writes that.
func TestTypos(t *testing.T) {
	var table bytes.Buffer
	table.WriteString("| written | what is said |\n|---|---|\n")
	catalog := usualCluster()
	for _, tt := range typos {
		declared, written := v1alpha1.GraphViewSpec{}, []string{}
		query := tt.query
		if query == "" {
			query = "true"
		} else {
			written = append(written, "query `"+query+"`")
		}
		declared.Queries = []v1alpha1.Query{{Include: &v1alpha1.Include{ResourceSelectorExpression: query}}}
		for _, more := range tt.more {
			declared.Queries = append(declared.Queries, v1alpha1.Query{Exclude: &v1alpha1.Exclude{ResourceSelectorExpression: more}})
			written = append(written, "then exclude `"+more+"`")
		}
		if tt.names != nil {
			declared.Namespaces = &v1alpha1.Namespaces{Names: namespaceNames(tt.names...)}
			written = append(written, "namespace `"+strings.Join(tt.names, "`, `")+"`")
		}
		if tt.root != "" {
			declared.Roots = &v1alpha1.Roots{ObjectSelectorExpressions: []v1alpha1.Expression{v1alpha1.Expression(tt.root)}}
			written = append(written, "root `"+tt.root+"`")
		}
		if tt.object != "" {
			var root v1alpha1.RootObject
			if err := yaml.Unmarshal([]byte(tt.object), &root); err != nil {
				t.Fatal(err)
			}
			declared.Roots = &v1alpha1.Roots{Objects: []v1alpha1.RootObject{root}}
			written = append(written, "root `"+tt.object+"`")
		}
		name := strings.Join(written, ", ")
		t.Run(name, func(t *testing.T) {
			program, err := spec.Compile(t.Context(), nil, declared)
			if err != nil {
				t.Fatal(err)
			}
			a := Advise(t.Context(), program, catalog)
			findings := a.Findings
			if program.Rooted() {
				findings = a.WhileRootless()
			}
			findings = append(findings, advice.OfNamespaces(tt.names, func(name string) bool { return name == "orders" }, []string{"orders"})...)
			var got []string
			for _, f := range findings {
				got = append(got, f.Message)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("said (-want +got):\n%s", diff)
			}
			if said := strings.Join(got, "<br>"); said != "" {
				fmt.Fprintf(&table, "| %s | %s |\n", strings.ReplaceAll(name, "||", `\|\|`), said)
			}
		})
	}
	page := filepath.Join("..", "docs", "measured", "mistakes.md")
	before, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- table -->\n", "<!-- end -->\n"
	head, rest, ok := strings.Cut(string(before), begin)
	_, tail, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatalf("%s has no place for the table", page)
	}
	after := head + begin + table.String() + end + tail
	if *update && !t.Failed() {
		if err := os.WriteFile(page, []byte(after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(string(before), after); diff != "" && !t.Failed() {
		t.Errorf("%s is not up to date, go test ./graphview -run TestTypos -update (-is +should be):\n%s", page, diff)
	}
}

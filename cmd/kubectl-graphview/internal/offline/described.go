package offline

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"graphview.dev/api/v1alpha1"
)

// outsideLabel marks the namespaces that manifests name and do not describe.
const outsideLabel = "graphview.dev/outside"

// visiting are kinds of objects in the namespaces of other applications; without a kind, all of the group.
var visiting = map[schema.GroupKind]bool{
	namespaceKind: true, {Kind: "ResourceQuota"}: true, {Kind: "LimitRange"}: true, {Group: "networking.k8s.io"}: true,
	{Group: rbacGroup}: true, {Group: "monitoring.coreos.com"}: true, {Group: "gateway.networking.k8s.io"}: true,
}

// described returns the namespaces for which the manifests have more than visitors. In other namespaces,
// and in those of the cluster itself, objects may exist that no manifest has.
func (m *Manifests) described() map[string]bool {
	all := map[string]bool{}
	for key, o := range m.Objects {
		if !o.Made() && !visiting[key.GroupKind] && !visiting[schema.GroupKind{Group: key.Group}] && !strings.HasPrefix(key.Namespace, "openshift-") && !slices.Contains([]string{"", "kube-system", "kube-public", "kube-node-lease"}, key.Namespace) {
			all[key.Namespace] = true
		}
	}
	return all
}

// running are the kinds of workloads that stay, and fromCharts the kinds that their charts have beside them.
var (
	running = map[schema.GroupKind]bool{
		{Group: "apps", Kind: "Deployment"}: true, {Group: "apps", Kind: "StatefulSet"}: true, {Group: "apps", Kind: "DaemonSet"}: true,
	}
	fromCharts = map[schema.GroupKind]bool{serviceKind: true, serviceAccountKind: true, {Kind: "PersistentVolumeClaim"}: true, podKind: true}
)

// idleNamespaces returns the namespaces without any workload that stays. Something else deploys the workloads there.
func (m *Manifests) idleNamespaces() map[string]bool {
	idle := map[string]bool{}
	for key := range m.Objects {
		idle[key.Namespace] = true
	}
	for key := range m.Objects {
		if running[key.GroupKind] {
			idle[key.Namespace] = false
		}
	}
	return idle
}

// markNamespaces labels the namespaces that are not described.
func (m *Manifests) markNamespaces() {
	described := m.described()
	for key, o := range m.Objects {
		if key.GroupKind != namespaceKind || described[key.Name] {
			continue
		}
		metadata := o.metadata() // a copy since identify
		labels, _ := metadata["labels"].(map[string]any)
		labels = copied(labels)
		labels[outsideLabel] = ""
		metadata["labels"] = labels
	}
}

// installs has the kinds that install charts.
var installs = map[schema.GroupKind]bool{
	{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease"}: true, {Group: "helm.cattle.io", Kind: "HelmChart"}: true, {Group: "argoproj.io", Kind: "Application"}: true,
	{Group: "argoproj.io", Kind: "ApplicationSet"}: true,
}

// View returns the spec of a view of the manifests. It selects everything. References into namespaces that are
// not described are outside and not missing, since a cluster may have the objects. So are references to kinds
// without a manifest, if these are cluster-scoped or custom kinds without a definition.
func (m *Manifests) View(without string) v1alpha1.GraphViewSpec {
	has := map[schema.GroupKind]bool{namespaceKind: true}
	for key, o := range m.Objects {
		has[key.GroupKind] = has[key.GroupKind] || !o.Made()
	}
	// Charts and parts that are left out have cluster-scoped objects with any name.
	charts := len(m.partial) > 0
	for key := range m.Objects {
		charts = charts || installs[key.GroupKind]
	}
	foreign := []string{"false"}
	for _, kind := range m.Kinds() {
		_, builtin := builtinKinds()[kind.GroupKind()]
		isClass := strings.HasSuffix(kind.Kind, "Class") && kind.Kind != "PriorityClass" // which a cluster has
		if !kind.Namespaced && (charts || isClass) && kind.GroupKind() != namespaceKind || !has[kind.GroupKind()] && (!kind.Namespaced || !builtin && kind.Schema == nil) {
			foreign = append(foreign, "(group == '"+kind.Group+"' && kind == '"+kind.Kind+"')")
		}
	}
	return v1alpha1.GraphViewSpec{
		Queries: []v1alpha1.Query{
			{Exclude: &v1alpha1.Exclude{ResourceSelectorExpression: without}},
			// A view that selects by fields does not know which objects are missing.
			{Include: &v1alpha1.Include{ResourceSelectorExpression: strings.Join(foreign, " || "), Object: &v1alpha1.ObjectFilter{FieldSelector: "metadata.name!=-"}}},
			{Include: &v1alpha1.Include{ResourceSelectorExpression: "true"}},
		},
		Namespaces: &v1alpha1.Namespaces{LabelSelector: "!" + outsideLabel},
	}
}

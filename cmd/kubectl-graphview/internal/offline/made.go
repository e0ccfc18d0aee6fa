package offline

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"graphview.dev/graphview/graph"
)

// mostPods bounds the pods that are made for a StatefulSet.
const mostPods = 9

// make adds the objects that controllers and the cluster itself would add, as far as others refer to them.
func (m *Manifests) make() {
	possible, operated := map[string][]product{}, map[string][]*Object{} // by namespace
	created, idle := m.createdKinds(), m.idleNamespaces()
	for _, o := range m.sorted() {
		if m.operated(o) && !installs[o.GroupKind] { // the names of charts have rows
			operated[o.Namespace] = append(operated[o.Namespace], o)
		}
		m.makePods(o)
		if variable.MatchString(o.Name) {
			possible["*"] = append(possible["*"], product{kind: o.GroupKind, namespace: "*", name: variable.ReplaceAllString(o.Name, "*"), creator: o})
		}
		for _, p := range products(o) {
			// A reference decides whether an object of any name or namespace is made.
			if !p.prefix && p.namespace != "*" && p.name != "*" {
				m.add(p.kind, p.namespace, p.name, o, nil)
			} else {
				possible[p.namespace] = append(possible[p.namespace], p)
			}
		}
	}
	uncertain, anywhere := map[Key]bool{}, map[Key]bool{} // without namespaces
	for _, o := range m.sorted() {
		of := Key{GroupKind: o.GroupKind, Name: o.Name}
		anywhere[of], uncertain[of] = true, uncertain[of] || o.assumed
	}
	for _, o := range m.spare {
		uncertain[Key{GroupKind: schema.FromAPIVersionAndKind(text(o.Content, "apiVersion"), text(o.Content, "kind")).GroupKind(), Name: text(o.metadata(), "name")}] = true
	}
	for _, o := range m.sorted() {
		if o.Namespace != "" {
			m.add(namespaceKind, "", o.Namespace, nil, nil)
		}
		for _, r := range m.references[o.Key] {
			key := m.keyOf(r)
			m.provide(o, key, possible)
			m.provideOperated(key, operated[key.Namespace])
			elsewhere := idle[key.Namespace] && (fromCharts[key.GroupKind] || running[key.GroupKind]) && (key.GroupKind != serviceAccountKind || o.Group == rbacGroup)
			if key.Namespace != "" && (elsewhere || m.partial[key.Namespace] || created[Key{GroupKind: key.GroupKind, Namespace: key.Namespace}]) {
				m.add(key.GroupKind, key.Namespace, key.Name, nil, nil)
			}
			// A deployer decides the namespace of one of them.
			if of := (Key{GroupKind: key.GroupKind, Name: key.Name}); uncertain[of] || o.assumed && anywhere[of] {
				m.add(key.GroupKind, key.Namespace, key.Name, nil, nil)
			}
		}
	}
}

// keyOf returns the key of the target of a reference, without a name for a selector.
func (m *Manifests) keyOf(r graph.Reference) Key {
	key := Key{GroupKind: schema.GroupKind(r.To), Namespace: r.Namespace, Name: r.Name}
	if kind, _ := m.kinds.of(key.WithVersion("v1")); r.Scope == graph.ScopeCluster || r.Scope == graph.ScopeUnknown && !kind.Namespaced {
		key.Namespace = ""
	}
	return key
}

// provide makes the target of a reference of an object if every cluster has it, or a controller may create it.
func (m *Manifests) provide(o *Object, key Key, possible map[string][]product) {
	if key.Name == "" || m.Objects[key] != nil {
		return
	}
	// A person or a script makes these by hand.
	byHand := slices.Contains([]schema.GroupKind{secretKind, configMapKind, serviceAccountKind}, key.GroupKind) && m.mentioned[key.Name]
	if byHand || m.chartHas(key) || everyClusterHas(key) || m.bootstrapHas(key, o) {
		m.add(key.GroupKind, key.Namespace, key.Name, nil, nil)
		return
	}
	for _, p := range slices.Concat(possible[key.Namespace], possible["*"]) {
		// A chart needs its own values before it has any object.
		if p.covers(key) && !(p.name == "*" && installs[o.GroupKind]) {
			m.add(key.GroupKind, key.Namespace, key.Name, p.creator, nil)
			return
		}
	}
}

// chartHas reports whether a key begins with the name of a folder that has a chart, or values for one.
func (m *Manifests) chartHas(key Key) bool {
	if _, builtin := builtinKinds()[key.GroupKind]; !builtin {
		return false
	}
	for i, r := range key.Name + "-" {
		if r == '-' && m.charts[key.Name[:i]] {
			return true
		}
	}
	return false
}

// provideOperated makes an object if an operator may create it for a custom resource, whose name its name has.
func (m *Manifests) provideOperated(key Key, resources []*Object) {
	if _, builtin := builtinKinds()[key.GroupKind]; !builtin {
		return
	}
	for _, o := range resources {
		if strings.Contains("-"+key.Name+"-", "-"+o.Name+"-") {
			m.add(key.GroupKind, key.Namespace, key.Name, o, nil)
		}
	}
}

// everyClusterHas reports whether an object exists before anything is applied.
func everyClusterHas(key Key) bool {
	switch key.GroupKind {
	case namespaceKind:
		return true // controllers of continuous delivery make it
	case serviceAccountKind:
		return slices.Contains([]string{"default", "builder", "deployer"}, key.Name) || key.Namespace == "flux-system" && (strings.HasSuffix(key.Name, "-controller") || key.Name == "source-watcher") // of Flux' bootstrap, as its sources
	case schema.GroupKind{Group: "argoproj.io", Kind: "AppProject"}:
		return key.Name == "default"
	case configMapKind:
		return slices.Contains([]string{"kube-root-ca.crt", "istio-ca-root-cert", "openshift-service-ca.crt"}, key.Name)
	case serviceKind:
		return key.Name == "kubernetes" && key.Namespace == "default"
	case schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PriorityClass"}:
		return strings.HasPrefix(key.Name, "system-")
	case clusterRoleKind:
		// Names with a colon are those of a platform's own components.
		return strings.Contains(key.Name, ":") || slices.Contains([]string{"cluster-admin", "admin", "edit", "view", "cluster-reader", "cluster-monitoring-view"}, key.Name)
	case roleKind:
		return key.Namespace == "kube-system" && (strings.HasPrefix(key.Name, "system:") || key.Name == "extension-apiserver-authentication-reader")
	default:
		return false
	}
}

// bootstrapHas reports whether a key names the source and the Kustomization with which Flux is installed, unless the
// manifests have another source.
func (m *Manifests) bootstrapHas(key Key, user *Object) bool {
	if !strings.HasSuffix(key.Group, ".toolkit.fluxcd.io") || key.Name != "flux-system" || key.Namespace != "flux-system" && !user.assumed {
		return false
	}
	for other := range m.Objects {
		if other.GroupKind == key.GroupKind && other.Group == "source.toolkit.fluxcd.io" && other.Namespace == key.Namespace {
			return false
		}
	}
	return true
}

// add makes an object unless there is one of that name. An owner is its controller.
func (m *Manifests) add(of schema.GroupKind, namespace, name string, owner *Object, content map[string]any) {
	kind, _ := m.kinds.of(of.WithVersion("v1"))
	if !kind.Namespaced {
		namespace = ""
	}
	key := Key{of, namespace, name}
	if m.Objects[key] != nil || name == "" {
		return
	}
	object := copied(content)
	metadata := copied((&Object{Content: object}).metadata())
	metadata["name"] = name
	if owner != nil && (owner.Namespace == namespace || owner.Namespace == "") {
		metadata["ownerReferences"] = []any{map[string]any{
			"apiVersion": owner.Kind.GroupVersion().String(), "kind": owner.Kind.Kind, "name": owner.Name, "uid": uidOf(owner.Key), "controller": true,
		}}
	}
	object["apiVersion"], object["kind"], object["metadata"] = kind.GroupVersion().String(), kind.Kind, metadata
	o := &Object{Content: object, creator: owner}
	o.identify(kind, namespace, "")
	m.Objects[key] = o
}

// makePods makes the pods of a workload: one of each template, and those of a StatefulSet by number, with
// their claims, which outlive it.
func (m *Manifests) makePods(o *Object) {
	spec, _ := o.Content["spec"].(map[string]any)
	if o.GroupKind == (schema.GroupKind{Group: "batch", Kind: "CronJob"}) {
		job, _ := spec["jobTemplate"].(map[string]any)
		spec, _ = job["spec"].(map[string]any)
	}
	template, _ := spec["template"].(map[string]any)
	pod, _ := template["spec"].(map[string]any)
	if list(pod["containers"]) == nil {
		return
	}
	metadata, _ := template["metadata"].(map[string]any)
	if o.Kind.Kind != "StatefulSet" {
		m.addPod(o.Name+"-*", o, podOf(metadata, pod, nil))
		return
	}
	replicas := 1
	if n, ok := spec["replicas"].(int64); ok {
		replicas = int(min(max(n, 1), mostPods))
	}
	for i := range replicas {
		name := o.Name + "-" + strconv.Itoa(i)
		m.addPod(name, o, podOf(metadata, pod, map[string]any{"statefulset.kubernetes.io/pod-name": name}))
		for _, claim := range list(spec["volumeClaimTemplates"]) {
			of, _ := claim.(map[string]any)
			about, _ := of["metadata"].(map[string]any)
			m.add(schema.GroupKind{Kind: "PersistentVolumeClaim"}, o.Namespace, text(about, "name")+"-"+name, nil, nil)
		}
	}
}

// addPod makes a pod of a workload, unless a cluster has them.
func (m *Manifests) addPod(name string, owner *Object, content map[string]any) {
	if !m.laid {
		m.add(podKind, owner.Namespace, name, owner, content)
	}
}

// podOf returns a pod of a template, with further labels.
func podOf(metadata, spec, further map[string]any) map[string]any {
	of, _ := metadata["labels"].(map[string]any)
	labels := copied(of)
	maps.Copy(labels, further)
	return map[string]any{"metadata": map[string]any{"labels": labels}, "spec": spec}
}

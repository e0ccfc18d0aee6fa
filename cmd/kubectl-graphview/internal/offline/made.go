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
	possible := map[string][]product{} // by namespace
	for _, o := range m.sorted() {
		m.makePods(o)
		for _, p := range products(o) {
			// A reference decides whether an object of any name or namespace is made.
			if !p.prefix && p.namespace != "*" {
				m.add(p.kind, p.namespace, p.name, o, nil)
			} else {
				possible[p.namespace] = append(possible[p.namespace], p)
			}
		}
	}
	for _, o := range m.sorted() {
		if o.Namespace != "" {
			m.add(namespaceKind, "", o.Namespace, nil, nil)
		}
		for _, r := range m.references[o.Key] {
			m.provide(m.keyOf(r), possible)
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

// provide makes the target of a reference if every cluster has it, or a controller may create it.
func (m *Manifests) provide(key Key, possible map[string][]product) {
	if key.Name == "" || m.Objects[key] != nil {
		return
	}
	if everyClusterHas(key) {
		m.add(key.GroupKind, key.Namespace, key.Name, nil, nil)
		return
	}
	for _, p := range slices.Concat(possible[key.Namespace], possible["*"]) {
		if p.covers(key) {
			m.add(key.GroupKind, key.Namespace, key.Name, p.creator, nil)
			return
		}
	}
}

// everyClusterHas reports whether an object exists before anything is applied.
func everyClusterHas(key Key) bool {
	switch key.GroupKind {
	case namespaceKind:
		return true // controllers of continuous delivery make it
	case schema.GroupKind{Kind: "ServiceAccount"}:
		return key.Name == "default"
	case configMapKind:
		return key.Name == "kube-root-ca.crt"
	case serviceKind:
		return key.Name == "kubernetes" && key.Namespace == "default"
	case schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PriorityClass"}:
		return strings.HasPrefix(key.Name, "system-")
	case schema.GroupKind{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}:
		return strings.HasPrefix(key.Name, "system:") || slices.Contains([]string{"cluster-admin", "admin", "edit", "view"}, key.Name)
	case schema.GroupKind{Group: "rbac.authorization.k8s.io", Kind: "Role"}:
		return key.Namespace == "kube-system" && (strings.HasPrefix(key.Name, "system:") || key.Name == "extension-apiserver-authentication-reader")
	default:
		return false
	}
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
	o := &Object{Content: object}
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
		m.add(podKind, o.Namespace, o.Name+"-*", o, podOf(metadata, pod, nil))
		return
	}
	replicas := 1
	if n, ok := spec["replicas"].(int64); ok {
		replicas = int(min(max(n, 1), mostPods))
	}
	for i := range replicas {
		name := o.Name + "-" + strconv.Itoa(i)
		m.add(podKind, o.Namespace, name, o, podOf(metadata, pod, map[string]any{"statefulset.kubernetes.io/pod-name": name}))
		for _, claim := range list(spec["volumeClaimTemplates"]) {
			of, _ := claim.(map[string]any)
			about, _ := of["metadata"].(map[string]any)
			m.add(schema.GroupKind{Kind: "PersistentVolumeClaim"}, o.Namespace, text(about, "name")+"-"+name, nil, nil)
		}
	}
}

// podOf returns a pod of a template, with further labels.
func podOf(metadata, spec, further map[string]any) map[string]any {
	of, _ := metadata["labels"].(map[string]any)
	labels := copied(of)
	maps.Copy(labels, further)
	return map[string]any{"metadata": map[string]any{"labels": labels}, "spec": spec}
}

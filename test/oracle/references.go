package oracle

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// collector gathers the references of one object.
type collector struct {
	tree      map[string]any
	namespace string // the object's own
	found     []reference
}

// references returns everything an object refers to.
func references(o *object, served []resource) []reference {
	c := &collector{tree: o.tree, namespace: o.key.Namespace}
	c.owners(served)
	switch o.kind.Group {
	case "":
		c.core(o.kind.Kind)
	case "storage.k8s.io":
		c.storage(o.kind.Kind)
	case "networking.k8s.io", "discovery.k8s.io":
		c.network(o.kind.Kind)
	case "rbac.authorization.k8s.io":
		c.rights(o.kind.Kind)
	case "resource.k8s.io":
		c.devices(o.kind.Kind)
	case "certificates.k8s.io":
		c.certificates(o.kind.Kind)
	case "admissionregistration.k8s.io", "apiregistration.k8s.io", "apiextensions.k8s.io",
		"coordination.k8s.io", "flowcontrol.apiserver.k8s.io":
		c.server(o.kind)
	default:
		c.rest(o.kind)
		c.infer(o, served)
	}
	return append(c.found, o.releases...)
}

func (c *collector) owners(served []resource) {
	for _, owner := range (&unstructured.Unstructured{Object: c.tree}).GetOwnerReferences() {
		version, err := schema.ParseGroupVersion(owner.APIVersion)
		if err != nil || owner.Kind == "" || owner.Name == "" {
			continue
		}
		c.found = append(c.found, reference{
			arc: "or", to: schema.GroupKind{Group: version.Group, Kind: owner.Kind}, namespace: c.namespace,
			name: owner.Name, uid: owner.UID,
			controller: isTrue(owner.Controller), blockOwnerDeletion: isTrue(owner.BlockOwnerDeletion),
		})
		said := c.found[len(c.found)-1]
		if slices.ContainsFunc(served, func(r resource) bool { return r.Group == said.to.Group && r.kind == said.to.Kind }) {
			continue
		}
		for _, r := range served {
			if moved := said; r.kind == owner.Kind && owner.UID != "" {
				moved.to.Group, moved.inferred = r.Group, true
				c.found = append(c.found, moved)
			}
		}
	}
}

func isTrue(b *bool) bool { return b != nil && *b }

// uses adds a reference by name to something in the object's own namespace.
func (c *collector) uses(arc, field string, to schema.GroupKind, name string) {
	c.usesIn(c.namespace, arc, field, to, name)
}

// usesIn adds a reference by name to something in a namespace, "" meaning the
// object's own.
func (c *collector) usesIn(namespace, arc, field string, to schema.GroupKind, name string) {
	if name == "" || to.Kind == "" {
		return
	}
	if namespace == "" {
		namespace = c.namespace
	}
	c.found = append(c.found, reference{arc: arc, field: field, to: to, namespace: namespace, name: name})
}

// object adds a reference that is an object with name, and perhaps namespace.
func (c *collector) object(arc, field string, to schema.GroupKind, value any) {
	c.usesIn(text(value, "namespace"), arc, field, to, text(value, "name"))
}

// selects adds a reference to all pods that a selector matches.
func (c *collector) selects(field string, selector labels.Selector) {
	if selector != nil {
		c.found = append(c.found, reference{arc: "r", field: field, to: core("Pod"), namespace: c.namespace, selector: selector})
	}
}

func core(kind string) schema.GroupKind { return schema.GroupKind{Kind: kind} }

// byAPIVersion is the kind that the fields apiVersion and kind name.
func byAPIVersion(value any) schema.GroupKind {
	version, err := schema.ParseGroupVersion(text(value, "apiVersion"))
	if err != nil {
		return schema.GroupKind{}
	}
	return schema.GroupKind{Group: version.Group, Kind: text(value, "kind")}
}

// byAPIGroup is the kind that the fields apiGroup and kind name.
func byAPIGroup(value any) schema.GroupKind {
	return schema.GroupKind{Group: text(value, "apiGroup"), Kind: text(value, "kind")}
}

// at walks down maps; nil where there is nothing.
func at(value any, path string) any {
	for key := range strings.SplitSeq(path, ".") {
		tree, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = tree[key]
	}
	return value
}

func text(value any, path string) string {
	found, _ := at(value, path).(string)
	return found
}

func items(value any, path string) []any {
	found, _ := at(value, path).([]any)
	return found
}

// rest are the groups with a kind or two.
func (c *collector) rest(kind schema.GroupKind) {
	switch kind {
	case schema.GroupKind{Group: "apps", Kind: "Deployment"}, schema.GroupKind{Group: "apps", Kind: "ReplicaSet"},
		schema.GroupKind{Group: "apps", Kind: "DaemonSet"}, schema.GroupKind{Group: "batch", Kind: "Job"}:
		c.podSpec("spec.template.spec")
	case schema.GroupKind{Group: "apps", Kind: "StatefulSet"}:
		c.podSpec("spec.template.spec")
		c.uses("r", "spec.serviceName", core("Service"), text(c.tree, "spec.serviceName"))
		for _, claim := range items(c.tree, "spec.volumeClaimTemplates") {
			c.claimTemplate("spec.volumeClaimTemplates[]", claim)
			if name := text(claim, "metadata.name"); name != "" {
				c.uses("r", "spec.volumeClaimTemplates[].metadata.name", core("PersistentVolumeClaim"), name+"-"+text(c.tree, "metadata.name"))
				c.found[len(c.found)-1].numbered = true
			}
		}
	case schema.GroupKind{Group: "batch", Kind: "CronJob"}:
		c.podSpec("spec.jobTemplate.spec.template.spec")
		for _, job := range items(c.tree, "status.active") {
			c.object("r", "status.active[]", schema.GroupKind{Group: "batch", Kind: "Job"}, job)
		}
	case schema.GroupKind{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}:
		target := at(c.tree, "spec.scaleTargetRef")
		c.uses("r", "spec.scaleTargetRef", byAPIVersion(target), text(target, "name"))
		for _, metric := range items(c.tree, "spec.metrics") {
			described := at(metric, "object.describedObject")
			c.uses("r", "spec.metrics[].object.describedObject", byAPIVersion(described), text(described, "name"))
		}
	case schema.GroupKind{Group: "policy", Kind: "PodDisruptionBudget"}:
		c.selects("spec.selector", parseSelector(at(c.tree, "spec.selector")))
	}
}

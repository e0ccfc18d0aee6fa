package offline

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

const rbacGroup = "rbac.authorization.k8s.io"

var (
	roleKind           = schema.GroupKind{Group: rbacGroup, Kind: "Role"}
	clusterRoleKind    = schema.GroupKind{Group: rbacGroup, Kind: "ClusterRole"}
	serviceAccountKind = schema.GroupKind{Kind: "ServiceAccount"}
)

// createdKinds returns the kinds that a workload may create in its own namespace, by the roles of its ServiceAccount.
// Certificates of webhooks are made that way. Roles that every cluster has do not count.
func (m *Manifests) createdKinds() map[Key]bool {
	accounts := map[Key][]schema.GroupKind{}
	for key, o := range m.Objects {
		if key.Group != rbacGroup || o.Content["roleRef"] == nil {
			continue
		}
		ref, _ := o.Content["roleRef"].(map[string]any)
		role := Key{GroupKind: schema.GroupKind{Group: rbacGroup, Kind: text(ref, "kind")}, Name: text(ref, "name")}
		if role.GroupKind == roleKind {
			role.Namespace = key.Namespace
		}
		for _, subject := range list(o.Content["subjects"]) {
			of, _ := subject.(map[string]any)
			namespace := cmp.Or(text(of, "namespace"), key.Namespace)
			if text(of, "kind") == serviceAccountKind.Kind && (key.Namespace == "" || key.Namespace == namespace) {
				account := Key{serviceAccountKind, namespace, text(of, "name")}
				accounts[account] = append(accounts[account], m.createdBy(m.Objects[role])...)
			}
		}
	}
	all := map[Key]bool{}
	for _, o := range m.Objects {
		pod, _ := podSpec(o)
		if list(pod["containers"]) == nil {
			continue
		}
		account := cmp.Or(text(pod, "serviceAccountName"), text(pod, "serviceAccount"), "default")
		for _, kind := range accounts[Key{serviceAccountKind, o.Namespace, account}] {
			all[Key{GroupKind: kind, Namespace: o.Namespace}] = true
		}
	}
	return all
}

// createdBy returns the kinds that a role permits to create.
func (m *Manifests) createdBy(role *Object) (kinds []schema.GroupKind) {
	if role == nil {
		return nil
	}
	for _, rule := range list(role.Content["rules"]) {
		of, _ := rule.(map[string]any)
		has := func(member, value string) bool {
			return slices.Contains(list(of[member]), any(value)) || slices.Contains(list(of[member]), any("*"))
		}
		if !has("verbs", "create") {
			continue
		}
		for resource, kind := range m.resources {
			if has("apiGroups", resource.Group) && has("resources", resource.Resource) {
				kinds = append(kinds, kind)
			}
		}
	}
	return kinds
}

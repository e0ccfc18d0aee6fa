package mine

import (
	"strings"

	"k8s.io/client-go/kubernetes/scheme"
)

// Kind is a kind of an API group, in any version.
type Kind struct{ Group, Name string }

// String writes the kind as group/Kind, the core group as core.
func (k Kind) String() string {
	if k.Group == "" {
		return "core/" + k.Name
	}
	return k.Group + "/" + k.Name
}

// definition is what the manifests say of a kind.
type definition struct {
	kind    Kind
	words   []string
	cluster bool
	// builtin: the kind is Kubernetes' own.
	builtin bool
	// schemas are those of the versions, none for Kubernetes' own kinds; stored is of the
	// version that is stored.
	schemas map[string]*schema
	stored  *schema
}

// Kinds are the kinds that a cluster would serve: Kubernetes' own, and those of
// CustomResourceDefinitions.
type Kinds struct {
	all    map[Kind]*definition
	byName map[string][]*definition
	byWord map[string][]*definition // by the name in small letters
}

// clusterScoped are Kubernetes' kinds without a namespace.
var clusterScoped = func() map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq(`APIService CertificateSigningRequest ClusterRole ClusterRoleBinding ClusterTrustBundle ComponentStatus CSIDriver CSINode
		CustomResourceDefinition DeviceClass FlowSchema IngressClass IPAddress MutatingAdmissionPolicy MutatingAdmissionPolicyBinding
		MutatingWebhookConfiguration Namespace Node PersistentVolume PriorityClass PriorityLevelConfiguration ResourceSlice RuntimeClass
		SelfSubjectReview ServiceCIDR StorageClass StorageVersion StorageVersionMigration SubjectAccessReview TokenReview
		ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration VolumeAttachment VolumeAttributesClass`) {
		set[name] = true
	}
	return set
}()

// NewKinds returns Kubernetes' own kinds.
func NewKinds() *Kinds {
	k := &Kinds{all: map[Kind]*definition{}, byName: map[string][]*definition{}}
	for gvk := range scheme.Scheme.AllKnownTypes() {
		name := gvk.Kind
		if gvk.Version == "__internal" || strings.HasSuffix(name, "List") || strings.HasSuffix(name, "Options") || name == "WatchEvent" || name == "Status" {
			continue
		}
		k.add(&definition{kind: Kind{gvk.Group, name}, cluster: clusterScoped[name], builtin: true})
	}
	k.add(&definition{kind: Kind{"apiextensions.k8s.io", "CustomResourceDefinition"}, cluster: true, builtin: true})
	k.add(&definition{kind: Kind{"apiregistration.k8s.io", "APIService"}, cluster: true, builtin: true})
	return k
}

func (k *Kinds) add(d *definition) {
	if k.all[d.kind] != nil {
		return
	}
	d.words = wordsOf(d.kind.Name)
	k.all[d.kind] = d
	k.byName[d.kind.Name] = append(k.byName[d.kind.Name], d)
}

// Each calls a function with each kind and whether it has no namespace.
func (k *Kinds) Each(f func(kind Kind, cluster bool)) {
	for kind, d := range k.all {
		f(kind, d.cluster)
	}
}

// Builtin tells whether a kind is Kubernetes' own.
func (k *Kinds) Builtin(kind Kind) bool { d := k.all[kind]; return d != nil && d.builtin }

// Schema returns the schema of the stored version of a kind as its
// CustomResourceDefinition has it, nil if there is none.
func (k *Kinds) Schema(kind Kind) map[string]any {
	if d := k.all[kind]; d != nil && d.stored != nil {
		return d.stored.raw
	}
	return nil
}

// named returns the kind of a name, in the group if it is given; else in the group of
// whoever speaks of it, in Kubernetes' groups, or the only one.
func (k *Kinds) named(name, group string, explicit bool, of string) *definition {
	if explicit {
		return k.all[Kind{group, name}]
	}
	if d := k.all[Kind{of, name}]; d != nil {
		return d
	}
	all := k.byName[name]
	for _, d := range all {
		if d.builtin && d.kind.Group != "extensions" {
			return d
		}
	}
	if len(all) == 1 {
		return all[0]
	}
	return nil
}

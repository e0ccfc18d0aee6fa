package offline

import (
	_ "embed"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"graphview.dev/config/crd"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/refs"
)

// Kind is a served kind, in one version.
type Kind struct {
	schema.GroupVersionKind

	Resource   string
	Namespaced bool
	Short      []string // names of the resource
	// Schema is the schema of a CustomResourceDefinition, nil for other kinds.
	Schema map[string]any
}

//go:embed kubernetes.txt
var kubernetesKinds string

// short has the short names of Kubernetes' own resources that people use most.
var short = map[string]string{
	"configmaps": "cm", "cronjobs": "cj", "customresourcedefinitions": "crd", "daemonsets": "ds", "deployments": "deploy",
	"horizontalpodautoscalers": "hpa", "ingresses": "ing", "namespaces": "ns", "networkpolicies": "netpol", "persistentvolumeclaims": "pvc",
	"persistentvolumes": "pv", "poddisruptionbudgets": "pdb", "pods": "po", "replicasets": "rs", "replicationcontrollers": "rc",
	"resourcequotas": "quota", "serviceaccounts": "sa", "services": "svc", "statefulsets": "sts", "storageclasses": "sc",
}

// builtinKinds are Kubernetes' own.
var builtinKinds = sync.OnceValue(func() map[schema.GroupKind]Kind {
	all := map[schema.GroupKind]Kind{}
	for line := range strings.Lines(kubernetesKinds) {
		words := strings.Fields(line)
		if len(words) != 5 || words[0] == "#" {
			continue
		}
		kind := Kind{Resource: words[3], Namespaced: words[4] == "namespaced"}
		kind.GroupVersionKind = schema.GroupVersionKind{Group: strings.TrimPrefix(words[0], "core"), Version: words[1], Kind: words[2]}
		if name := short[kind.Resource]; name != "" && kind.Group != "metrics.k8s.io" {
			kind.Short = []string{name}
		}
		all[kind.GroupKind()] = kind
	}
	return all
})

// clusterScoped are the kinds of other projects that the table of references says are in no namespace.
var clusterScoped = sync.OnceValue(func() map[schema.GroupKind]bool {
	all := map[schema.GroupKind]bool{}
	for _, rule := range refs.BuiltinRules() {
		if to := rule.To; rule.Scope == graph.ScopeCluster && to.Group.Field == "" && to.Kind.Field == "" {
			all[schema.GroupKind{Group: to.Group.Value, Kind: to.Kind.Value}] = true
		}
	}
	return all
})

// clusterKinds are further kinds of other projects that are in no namespace.
var clusterKinds = []string{
	"cert-manager.io/ClusterIssuer", "external-secrets.io/ClusterExternalSecret", "external-secrets.io/ClusterSecretStore", "kyverno.io/ClusterPolicy",
	"apiextensions.crossplane.io/CompositeResourceDefinition", "apiextensions.crossplane.io/Composition", "gateway.networking.k8s.io/GatewayClass",
	"karpenter.k8s.aws/EC2NodeClass", "karpenter.sh/NodeClaim", "karpenter.sh/NodePool", "operator.tigera.io/Installation",
	"pkg.crossplane.io/Configuration", "pkg.crossplane.io/Function", "pkg.crossplane.io/Provider", "snapshot.storage.k8s.io/VolumeSnapshotClass",
}

// inNoNamespace reports whether a kind that nothing describes is cluster-scoped, as far as the tables say. Those of
// other projects are called ClusterSomething, unless their objects name a namespace.
func (k *kinds) inNoNamespace(of schema.GroupKind) bool {
	return clusterScoped()[of] || slices.Contains(clusterKinds, of.Group+"/"+of.Kind) ||
		strings.HasPrefix(of.Kind, "Cluster") && of.Kind != "Cluster" && !k.inNamespace[of]
}

// named reports whether the table of references has rules of a kind, or leads to it.
var named = sync.OnceValue(func() map[schema.GroupKind]bool {
	all := map[schema.GroupKind]bool{}
	for _, rule := range refs.BuiltinRules() {
		all[schema.GroupKind(rule.From)] = true
		all[schema.GroupKind{Group: rule.To.Group.Value, Kind: rule.To.Kind.Value}] = true
	}
	return all
})

// ownDefinitions are the CustomResourceDefinitions of GraphView.
var ownDefinitions = sync.OnceValue(func() []*Object {
	var all []*Object
	names, _ := fs.Glob(crd.Bases, "bases/*.yaml")
	for _, name := range names {
		content, err := fs.ReadFile(crd.Bases, name)
		if err != nil {
			continue // embedded
		}
		for _, d := range documents(name, content) {
			found, err := d.parse()
			if err != nil {
				panic(err) // they are part of the program
			}
			all = append(all, found...)
		}
	}
	return all
})

// kinds finds the kinds of objects.
type kinds struct {
	described map[schema.GroupKind]Kind // by CustomResourceDefinitions
	guessed   map[schema.GroupKind]Kind
	served    map[schema.GroupKind]Kind // by the cluster
	// inNamespace are the kinds of objects that name a namespace.
	inNamespace map[schema.GroupKind]bool
	// cluster knows the kinds of the cluster that the manifests are laid over; nil without one.
	cluster meta.RESTMapper
}

func newKinds(cluster meta.RESTMapper) *kinds {
	return &kinds{cluster: cluster, described: map[schema.GroupKind]Kind{}, guessed: map[schema.GroupKind]Kind{}, served: map[schema.GroupKind]Kind{}, inNamespace: map[schema.GroupKind]bool{}}
}

// of returns the kind of an object. known is false if nothing describes it.
func (k *kinds) of(gvk schema.GroupVersionKind) (kind Kind, known bool) {
	of := gvk.GroupKind()
	if of.Group == "extensions" { // removed: its kinds are in other groups now
		for _, group := range []string{"apps", "networking.k8s.io", "policy"} {
			if _, ok := builtinKinds()[schema.GroupKind{Group: group, Kind: of.Kind}]; ok {
				of.Group = group
			}
		}
	}
	if kind, ok := k.served[of]; ok {
		return kind, true
	}
	if k.cluster != nil {
		if mapping, err := k.cluster.RESTMapping(of); err == nil {
			kind = Kind{GroupVersionKind: mapping.GroupVersionKind, Resource: mapping.Resource.Resource, Namespaced: mapping.Scope.Name() == meta.RESTScopeNameNamespace}
			k.served[of] = kind
			return kind, true
		}
	}
	if kind, ok := builtinKinds()[of]; ok {
		return kind, true
	}
	if kind, ok := k.described[of]; ok {
		return kind, true
	}
	guess, ok := k.guessed[of]
	if !ok || version.CompareKubeAwareVersionStrings(gvk.Version, guess.Version) > 0 {
		plural, _ := meta.UnsafeGuessKindToResource(gvk)
		if strings.HasSuffix(of.Kind, "ay") || strings.HasSuffix(of.Kind, "ey") {
			plural.Resource = strings.ToLower(of.Kind) + "s"
		}
		guess = Kind{GroupVersionKind: gvk, Resource: plural.Resource, Namespaced: !k.inNoNamespace(of)}
		k.guessed[of] = guess
	}
	return guess, k.cluster == nil && (named()[of] || !guess.Namespaced)
}

// all returns the kinds by group, version and kind.
func (k *kinds) all() []Kind {
	merged := maps.Clone(builtinKinds())
	maps.Copy(merged, k.guessed)
	maps.Copy(merged, k.described)
	maps.Copy(merged, k.served)
	return slices.SortedFunc(maps.Values(merged), func(a, b Kind) int { return strings.Compare(a.String(), b.String()) })
}

// describe adds the kind of a CustomResourceDefinition, in its newest served version.
func (k *kinds) describe(content map[string]any) error {
	spec, _ := content["spec"].(map[string]any)
	names, _ := spec["names"].(map[string]any)
	kind := Kind{Resource: text(names, "plural"), Namespaced: text(spec, "scope") != "Cluster"}
	kind.Group, kind.Kind = text(spec, "group"), text(names, "kind")
	for _, name := range list(names["shortNames"]) {
		if name, ok := name.(string); ok {
			kind.Short = append(kind.Short, name)
		}
	}
	for _, v := range list(spec["versions"]) {
		of, _ := v.(map[string]any)
		name := text(of, "name")
		if served, ok := of["served"].(bool); ok && !served || kind.Version != "" && version.CompareKubeAwareVersionStrings(kind.Version, name) > 0 {
			continue
		}
		kind.Version = name
		schema, _ := of["schema"].(map[string]any)
		kind.Schema, _ = schema["openAPIV3Schema"].(map[string]any)
	}
	if kind.Resource == "" || kind.Group == "" || kind.Kind == "" || kind.Version == "" {
		return errors.New("the CustomResourceDefinition lacks one of spec.group, spec.names.kind, spec.names.plural and spec.versions")
	}
	k.described[kind.GroupKind()] = kind
	return nil
}

// text returns a member that is a string.
func text(of map[string]any, member string) string {
	value, _ := of[member].(string)
	return value
}

func list(value any) []any {
	all, _ := value.([]any)
	return all
}

package impact

import (
	"slices"
	"strings"

	"graphview.dev/graphview/jsontree"
)

// Facts are the properties of an object that matter for deletions.
type Facts struct {
	// Finalizers hold the object after its deletion.
	Finalizers []string
	// Prunes: with the object, its controller deletes the objects that it manages. A PersistentVolume
	// prunes if it is deleted together with its claim.
	Prunes bool
	// Kept: an annotation excludes the object from pruning.
	Kept bool
	// Ended: the pod has finished, and uses nothing any more.
	Ended bool
	// Suspended: its controller makes and prunes nothing.
	Suspended bool
	// Grants are those of a ReferenceGrant.
	Grants []Grant
	// Unscheduled: the pod has no node. The protection of claims ignores such a pod.
	Unscheduled bool
}

// Grant allows the objects of a kind in another namespace to refer to those of a kind beside the ReferenceGrant.
type Grant struct {
	FromGroup string `json:"fg,omitempty"`
	FromKind  string `json:"fk"`
	Namespace string `json:"ns"`
	ToGroup   string `json:"tg,omitempty"`
	ToKind    string `json:"tk"`
	// ToName is empty if all objects of the kind may be referred to.
	ToName string `json:"tn,omitempty"`
}

// maxGrants bounds the grants that are read from one object.
const maxGrants = 16

// Annotations that exclude an object from pruning.
const (
	fluxPrune  = "kustomize.toolkit.fluxcd.io/prune"
	helmPolicy = "helm.sh/resource-policy"
	argoSync   = "argocd.argoproj.io/sync-options"
)

// fluxFinalizer lets Flux delete the objects that a Kustomization or HelmRelease manages.
const fluxFinalizer = "finalizers.fluxcd.io"

// argoFinalizer lets Argo CD delete the resources of an Application. It may have a suffix.
const argoFinalizer = "resources-finalizer.argocd.argoproj.io"

// Shape has the fields that FactsOf reads.
var Shape = func() *jsontree.Shape {
	var shape jsontree.Shape
	shape.Field("kind")
	metadata := shape.Field("metadata")
	metadata.Field("finalizers").Elements().Whole()
	annotations := metadata.Field("annotations")
	for _, annotation := range []string{fluxPrune, helmPolicy, argoSync} {
		annotations.Field(annotation)
	}
	spec := shape.Field("spec")
	for _, field := range []string{"prune", "suspend", "deletionPolicy", "persistentVolumeReclaimPolicy", "nodeName"} {
		spec.Field(field)
	}
	spec.Field("from").Elements().Whole()
	spec.Field("to").Elements().Whole()
	shape.Field("status").Field("phase")
	return &shape
}()

// FactsOf reads the facts of an object in a group. Fields of an unexpected type count as absent.
func FactsOf(group string, tree map[string]any) Facts {
	kind, _ := tree["kind"].(string)
	metadata, spec, status := object(tree, "metadata"), object(tree, "spec"), object(tree, "status")
	annotations := object(metadata, "annotations")
	list, _ := metadata["finalizers"].([]any)
	f := Facts{
		Kept: text(annotations, fluxPrune) == "disabled" || text(annotations, helmPolicy) == "keep" ||
			strings.Contains(text(annotations, argoSync), "Delete=false"),
	}
	for _, element := range list {
		if name, ok := element.(string); ok && len(f.Finalizers) < maxFinalizers {
			f.Finalizers = append(f.Finalizers, name)
		}
	}
	prune, _ := spec["prune"].(bool)
	suspended, _ := spec["suspend"].(bool)
	switch group + "/" + kind {
	case "/Pod":
		f.Ended = slices.Contains([]string{"Succeeded", "Failed"}, text(status, "phase"))
		f.Unscheduled = text(status, "phase") == "Pending" && text(spec, "nodeName") == ""
	case "/PersistentVolume":
		f.Prunes = text(spec, "persistentVolumeReclaimPolicy") == "Delete"
	case "kustomize.toolkit.fluxcd.io/Kustomization":
		policy := text(spec, "deletionPolicy")
		f.Suspended = suspended
		f.Prunes = !suspended && slices.Contains(f.Finalizers, fluxFinalizer) && policy != "Orphan" && (prune || policy == "Delete" || policy == "WaitForTermination")
	case "helm.toolkit.fluxcd.io/HelmRelease":
		f.Suspended = suspended
		f.Prunes = !suspended && slices.Contains(f.Finalizers, fluxFinalizer)
	case "gateway.networking.k8s.io/ReferenceGrant":
		f.Grants = grants(spec)
	case "argoproj.io/Application":
		f.Prunes = slices.ContainsFunc(f.Finalizers, func(name string) bool { return strings.HasPrefix(name, argoFinalizer) })
	}
	return f
}

// grants returns each pair of from and to of a ReferenceGrant.
func grants(spec map[string]any) (all []Grant) {
	sources, _ := spec["from"].([]any)
	targets, _ := spec["to"].([]any)
	for _, source := range sources {
		from, _ := source.(map[string]any)
		for _, target := range targets {
			if to, _ := target.(map[string]any); len(all) < maxGrants {
				all = append(all, Grant{text(from, "group"), text(from, "kind"), text(from, "namespace"), text(to, "group"), text(to, "kind"), text(to, "name")})
			}
		}
	}
	return all
}

// maxFinalizers bounds the finalizers that are read from one object.
const maxFinalizers = 16

func object(tree map[string]any, field string) map[string]any {
	value, _ := tree[field].(map[string]any)
	return value
}

func text(tree map[string]any, field string) string {
	value, _ := tree[field].(string)
	return value
}

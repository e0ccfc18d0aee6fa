package impact

import (
	"reflect"
	"slices"
	"strings"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/graphview/jsontree"
)

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

// FactsOf reads the facts of an object in a group, nil if there are none. Fields of an unexpected type count as absent.
func FactsOf(group string, tree map[string]any) *streamv1alpha1.DeletionFacts {
	kind, _ := tree["kind"].(string)
	metadata, spec, status := object(tree, "metadata"), object(tree, "spec"), object(tree, "status")
	annotations := object(metadata, "annotations")
	list, _ := metadata["finalizers"].([]any)
	f := streamv1alpha1.DeletionFacts{
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
	if reflect.ValueOf(f).IsZero() {
		return nil
	}
	return &f
}

// grants returns each pair of from and to of a ReferenceGrant.
func grants(spec map[string]any) (all []streamv1alpha1.Grant) {
	sources, _ := spec["from"].([]any)
	targets, _ := spec["to"].([]any)
	for _, source := range sources {
		from, _ := source.(map[string]any)
		for _, target := range targets {
			if to, _ := target.(map[string]any); len(all) < maxGrants {
				all = append(all, streamv1alpha1.Grant{
					FromGroup: text(from, "group"), FromKind: text(from, "kind"), Namespace: text(from, "namespace"),
					ToGroup: text(to, "group"), ToKind: text(to, "kind"), ToName: text(to, "name"),
				})
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

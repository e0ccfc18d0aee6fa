package delivery

import (
	"maps"
	"slices"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/jsontree"
	"graphview.dev/graphview/refs"
)

// selecting has the kinds whose selector has to select an object in their own namespace, with its field.
// HorizontalPodAutoscalers name their target, so nothing has to be selected.
var selecting = map[graph.Kind]string{
	{Kind: "Service"}: "spec.selector",
	{Group: "policy", Kind: "PodDisruptionBudget"}:           "spec.selector",
	{Group: "networking.k8s.io", Kind: "NetworkPolicy"}:      "spec.podSelector",
	{Group: "monitoring.coreos.com", Kind: "ServiceMonitor"}: "spec.selector",
	{Group: "monitoring.coreos.com", Kind: "PodMonitor"}:     "spec.selector",
}

// selectingShape has the fields that selectsOf reads.
var selectingShape = func() *jsontree.Shape {
	var shape jsontree.Shape
	for _, path := range [][]string{{"metadata", "namespace"}, {"metadata", "name"}, {"metadata", "ownerReferences"}, {"spec", "type"}, {"spec", "selector"}, {"spec", "podSelector"}, {"spec", "namespaceSelector"}} {
		shape.Field(path...).Whole()
	}
	return &shape
}()

// maxLabels bounds the labels of a summary, and the requirements and values of its selector.
const maxLabels = 32

// selectsOf returns the selector of an object that has to select an object in its namespace, nil for none. An
// empty selector selects everything or nothing on purpose, and an object with an owner is as its owner wants
// it: CloudNativePG makes a Service for replicas that a cluster of one instance does not have.
func selectsOf(kind graph.Kind, json []byte) (*streamv1alpha1.Selection, error) {
	field := selecting[kind]
	if field == "" {
		return nil, nil
	}
	object, err := jsontree.Part(json, selectingShape)
	if err != nil {
		return nil, err //nolint:wrapcheck // ReadJSON wraps it
	}
	metadata, _ := object["metadata"].(map[string]any)
	spec, _ := object["spec"].(map[string]any)
	if owners, _ := metadata["ownerReferences"].([]any); len(owners) > 0 || spec["type"] == "ExternalName" {
		return nil, nil
	}
	var found *streamv1alpha1.Selection
	size := 0 // the requirements and their values
	for _, ref := range refs.Builtin().Extract(kind, object) {
		switch {
		case ref.Field != field || ref.Selector == nil:
		case found != nil, ref.AllNamespaces, ref.Namespace != metadata["namespace"]:
			return nil, nil // the view may lack other namespaces
		default:
			found = &streamv1alpha1.Selection{Group: ref.To.Group, Kind: ref.To.Kind}
			for i := range ref.Selector.Requirements {
				r := &ref.Selector.Requirements[i]
				size += 1 + len(r.Values)
				found.Requirements = append(found.Requirements, streamv1alpha1.Requirement{Label: r.Key, Operator: operators[r.Op], Values: r.Values})
			}
		}
	}
	if found == nil || size == 0 || size > maxLabels {
		return nil, nil
	}
	return found, nil
}

// operators has the names of operators in label selectors.
var operators = [...]string{graph.In: "In", graph.NotIn: "NotIn", graph.Exists: "Exists", graph.DoesNotExist: "DoesNotExist"}

// templateLabels returns the labels of the pods that an object makes, nil for none. A ReplicaSet of a
// Deployment, like any object with a controller, makes the pods of its controller.
func templateLabels(metadata, spec map[string]any) map[string]string {
	owners, _ := metadata["ownerReferences"].([]any)
	if slices.ContainsFunc(owners, isController) {
		return nil
	}
	if job, ok := spec["jobTemplate"].(map[string]any); ok {
		spec, _ = job["spec"].(map[string]any)
	}
	template, _ := spec["template"].(map[string]any)
	about, _ := template["metadata"].(map[string]any)
	labels, _ := about["labels"].(map[string]any)
	made := make(map[string]string, min(len(labels), maxLabels))
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if value, ok := labels[key].(string); ok && len(made) < maxLabels {
			made[key] = value
		}
	}
	return made
}

func isController(owner any) bool {
	reference, _ := owner.(map[string]any)
	return reference["controller"] == true
}

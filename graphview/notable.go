package graphview

import (
	"slices"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/health"
	"graphview.dev/graphview/intake"
)

// Notable selects the objects that a list of the problems of a graph is made from (docs/health.md): objects that are degraded,
// progressing or terminating, or will be, that refer to absent objects or whose selectors select nothing, and all
// HorizontalPodAutoscalers, which may have one cause. Whether a selector should select something is known
// only from all objects of its namespace, so the client names such namespaces in a second question.
func Notable(namespaces []string) *graph.Notable {
	only := &graph.Notable{Kinds: isAutoscaler, Namespaces: make(map[string]bool, len(namespaces))}
	for class, state := range intake.States {
		only.Classes[class] = slices.Contains([]health.State{health.Degraded, health.Progressing, health.Terminating}, state)
	}
	for _, namespace := range namespaces {
		only.Namespaces[namespace] = true
	}
	return only
}

func isAutoscaler(kind graph.Kind) bool {
	return kind == graph.Kind{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}
}

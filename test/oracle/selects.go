package oracle

import (
	"encoding/json"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// selected is a selector in a summary.
type selected struct {
	Group        string           `json:"g"`
	Kind         string           `json:"k"`
	Requirements []labelCondition `json:"q"`
}

// labelCondition is one condition on a label.
type labelCondition struct {
	Label    string   `json:"l"`
	Operator string   `json:"o"`
	Values   []string `json:"v,omitempty"`
}

// selects returns the selector of the object in its own namespace, nil if it has none.
func (o *object) selects() *selected {
	if len(items(o.tree, "metadata.ownerReferences")) > 0 {
		return nil
	}
	found := &selected{Kind: "Pod"}
	var selector metav1.LabelSelector
	switch o.kind.String() {
	case "Service":
		labels, ok := at(o.tree, "spec.selector").(map[string]any)
		if !ok || text(o.tree, "spec.type") == "ExternalName" {
			return nil
		}
		selector.MatchLabels = map[string]string{}
		for key, value := range labels {
			selector.MatchLabels[key], _ = value.(string)
		}
	case "PodDisruptionBudget.policy", "PodMonitor.monitoring.coreos.com", "ServiceMonitor.monitoring.coreos.com", "NetworkPolicy.networking.k8s.io":
		path := "spec.selector"
		if o.kind.Kind == "NetworkPolicy" {
			path = "spec.podSelector"
		}
		encoded, err := json.Marshal(at(o.tree, path))
		if err != nil || json.Unmarshal(encoded, &selector) != nil {
			return nil
		}
		if _, err := metav1.LabelSelectorAsSelector(&selector); err != nil || at(o.tree, "spec.namespaceSelector") != nil {
			return nil
		}
		if o.kind.Kind == "ServiceMonitor" {
			found.Kind = "Service"
		}
	default:
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(selector.MatchLabels)) {
		found.Requirements = append(found.Requirements, labelCondition{key, "In", []string{selector.MatchLabels[key]}})
	}
	for _, e := range selector.MatchExpressions {
		found.Requirements = append(found.Requirements, labelCondition{e.Key, string(e.Operator), e.Values})
	}
	if len(found.Requirements) == 0 {
		return nil
	}
	return found
}

// podLabels are the labels of the pods that the object makes by a template, unless it has a controller.
func (o *object) podLabels() any {
	for _, owner := range items(o.tree, "metadata.ownerReferences") {
		if controller, _ := at(owner, "controller").(bool); controller {
			return nil
		}
	}
	template := "spec.template"
	if at(o.tree, "spec.jobTemplate") != nil {
		template = "spec.jobTemplate.spec.template"
	}
	if labels, _ := at(o.tree, template+".metadata.labels").(map[string]any); len(labels) > 0 {
		return labels
	}
	return nil
}

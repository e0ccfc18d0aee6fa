package refs

import (
	"encoding/json"

	"graphview.dev/graphview/graph"
)

const (
	// maxApplication bounds the bytes of kapp's record of an application, and maxUsed the kinds that it
	// lists.
	maxApplication = 64 << 10
	maxUsed        = 256
)

// parseApplication parses kapp's record of an application: the label of all its
// objects, and their kinds. It returns a selector for each kind, in all namespaces.
func parseApplication(text string) ([]graph.Reference, bool) {
	if len(text) > maxApplication {
		return nil, false
	}
	var app struct {
		LabelKey   string `json:"labelKey"`
		LabelValue string `json:"labelValue"`
		// The JSON keys of its elements begin with capitals.
		UsedGKs []struct{ Group, Kind string } `json:"usedGKs"`
	}
	if json.Unmarshal([]byte(text), &app) != nil || !isLabelKey(app.LabelKey) || app.LabelValue == "" || !isLabelValue(app.LabelValue) {
		return nil, false
	}
	selector := &graph.Selector{Requirements: []graph.Requirement{{Key: app.LabelKey, Values: []string{app.LabelValue}}}}
	var references []graph.Reference
	for _, used := range app.UsedGKs[:min(len(app.UsedGKs), maxUsed)] {
		if used.Kind != "" {
			references = append(references, graph.Reference{To: graph.Kind{Group: used.Group, Kind: used.Kind}, Selector: selector, AllNamespaces: true})
		}
	}
	return references, true
}

package refs

import (
	"encoding/json"

	"graphview.dev/graphview/graph"
)

const (
	// maxApplication bounds the text that kapp keeps of an application, and
	// maxUsed the kinds that it lists.
	maxApplication = 64 << 10
	maxUsed        = 256
)

// parseApplication reads what kapp keeps of an application: the label that all of
// its objects bear, and the kinds that these are of. It returns a selector of the
// objects of each kind, which may be in any namespace.
func parseApplication(text string) ([]graph.Reference, bool) {
	if len(text) > maxApplication {
		return nil, false
	}
	var app struct {
		LabelKey   string `json:"labelKey"`
		LabelValue string `json:"labelValue"`
		// The names of their members begin with capitals.
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

package mine

import (
	"slices"
	"strings"
)

// selector claims that a label selector selects objects that are there: those of the
// kind that its key says, or pods.
func (m *miner) selector(value map[string]any, at place) {
	labels, ok := value["matchLabels"].(map[string]any)
	if !ok {
		if value["matchExpressions"] != nil {
			return
		}
		labels = value
	}
	if len(labels) == 0 {
		return
	}
	for _, text := range labels {
		if _, ok := text.(string); !ok {
			return
		}
	}
	key := at.keys[len(at.keys)-1]
	if key == "nodeSelector" || key == "namespaceSelector" || key == "labelSelector" && strings.Contains(strings.ToLower(at.path), "affinity") {
		return
	}
	class, reason := Coincidence, ""
	for _, o := range append(slices.Clip(m.world.pods), m.world.Objects...) {
		if o == m.of || o.Name == m.of.Name && o.File == m.of.File || !matches(o.Labels, labels) || o.Namespace != m.of.Namespace && o.Namespace != "" {
			continue
		}
		d := m.world.Kinds.all[o.Kind]
		if says(telling(strings.TrimSuffix(strings.TrimSuffix(key, "Selector"), "Label")), d) != none {
			class, reason = Sure, "it selects objects of the kind that its key says"
			break
		}
		if mentions(at.schema.description(), d) {
			class, reason = Sure, "it selects objects of the kind that the description says"
			break
		}
	}
	if class == Coincidence {
		return
	}
	m.add(Claim{Path: at.path, Selector: true, Class: class, Reason: reason})
}

func matches(labels, wanted map[string]any) bool {
	for key, value := range wanted {
		if labels[key] != value {
			return false
		}
	}
	return true
}

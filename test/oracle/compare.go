package oracle

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// mostDifferences is the number of differences that Compare prints.
const mostDifferences = 20

// timed returns a wanted summary with those times of got that only the engine knows.
func timed(want, got any) any {
	summary, isSummary := want.(map[string]any)
	other, _ := got.(map[string]any)
	if at, found := other["od"].(float64); isSummary && found && at > 0 && summary["od"] == float64(anyTime) {
		summary = maps.Clone(summary)
		summary["od"] = at
		return summary
	}
	return want
}

// Compare returns the differences between got and want, "" for equal graphs. It ignores
// resourceVersions: a vertex has that of the last change of its content, which fresh
// lists do not have.
func Compare(want, got Graph) string {
	var all []string
	for key, content := range want.Vertices {
		other, ok := got.Vertices[key]
		if !ok {
			all = append(all, fmt.Sprintf("missing vertex %s", key))
		} else if want, got := timed(settled(content), settled(other)), settled(other); !reflect.DeepEqual(want, got) {
			all = append(all, fmt.Sprintf("content of %s (-want +got):\n%s", key, cmp.Diff(want, got)))
		}
	}
	for key := range got.Vertices {
		if _, ok := want.Vertices[key]; !ok {
			all = append(all, fmt.Sprintf("unexpected vertex %s", key))
		}
	}
	for key, attributes := range want.Arcs {
		other, ok := got.Arcs[key]
		other.Optional = attributes.Optional
		if !ok {
			all = append(all, fmt.Sprintf("missing arc %s %+v", key, attributes))
		} else if diff := cmp.Diff(attributes, other); diff != "" {
			all = append(all, fmt.Sprintf("attributes of %s (-want +got):\n%s", key, diff))
		}
	}
	for key, attributes := range got.Arcs {
		if _, ok := want.Arcs[key]; !ok {
			all = append(all, fmt.Sprintf("unexpected arc %s %+v", key, attributes))
		}
	}
	slices.Sort(all)
	if more := len(all) - mostDifferences; more > 0 {
		all = append(all[:mostDifferences], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, "\n")
}

// settled returns a vertex's content without the parts that may differ: the
// resourceVersion, annotations that are empty since one was dropped, and in
// templates the times that Kubernetes 1.33 writes as null in JSON alone.
func settled(content any) any {
	content = timeless(content)
	object, ok := content.(map[string]any)
	if !ok {
		return content
	}
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		return content
	}
	cleaned := map[string]any{}
	for key, value := range metadata {
		if annotations, ok := value.(map[string]any); key == "annotations" && ok && len(annotations) == 0 || key == "resourceVersion" {
			continue
		}
		cleaned[key] = value
	}
	object["metadata"] = cleaned
	return object
}

// timeless returns a copy of a value without creationTimestamps that are null.
func timeless(value any) any {
	switch v := value.(type) {
	case map[string]any:
		copied := make(map[string]any, len(v))
		for key, member := range v {
			if key != "creationTimestamp" || member != nil {
				copied[key] = timeless(member)
			}
		}
		return copied
	case []any:
		copied := make([]any, len(v))
		for i, member := range v {
			copied[i] = timeless(member)
		}
		return copied
	default:
		return value
	}
}

package command

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"graphview.dev/client"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/printable"
	"graphview.dev/graphview/refs"
)

// mostLabels bounds the labels that are shown.
const mostLabels = 8

// facts returns the age and the labels of an object, "" without them.
func facts(v *client.Vertex) string {
	if v == nil {
		return ""
	}
	var object struct {
		Metadata struct {
			Created time.Time         `json:"creationTimestamp"`
			Labels  map[string]string `json:"labels"`
		} `json:"metadata"`
	}
	// Without the object, the summary has the age.
	_ = json.Unmarshal(v.Object, &object)
	if v.Summary != nil && v.Summary.Created != 0 {
		object.Metadata.Created = time.Unix(v.Summary.Created, 0)
	}
	var said []string
	if created := object.Metadata.Created; !created.IsZero() {
		said = append(said, "created "+duration.HumanDuration(time.Since(created))+" ago")
	}
	if labels := object.Metadata.Labels; len(labels) > 0 {
		var texts []string
		for _, key := range slices.Sorted(maps.Keys(labels)) {
			texts = append(texts, key+"="+labels[key])
		}
		text := strings.Join(texts[:min(len(texts), mostLabels)], ", ")
		if more := len(texts) - mostLabels; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		said = append(said, "labels "+text)
	}
	return printable.Text(strings.Join(said, "; "))
}

// isBinding reports whether an object is a binding of RBAC.
func isBinding(key client.Key) bool {
	return key.Group == "rbac.authorization.k8s.io" && (key.Resource == "rolebindings" || key.Resource == "clusterrolebindings")
}

// people returns the users and groups that a binding names. They are no objects, and so in no
// graph.
func people(v *client.Vertex) []string {
	var binding struct {
		Subjects []struct {
			Kind string `json:"kind"`
			Name string `json:"name"`
		} `json:"subjects"`
	}
	if v == nil || !isBinding(v.Key) || json.Unmarshal(v.Object, &binding) != nil {
		return nil
	}
	var names []string
	for _, s := range binding.Subjects {
		if s.Kind == "User" || s.Kind == "Group" {
			names = append(names, printable.Text(s.Kind+"/"+s.Name))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// outside returns the objects that an object names in its own fields, of kinds that the view does not watch, sorted.
func outside(g *client.Graph, v *client.Vertex) []string {
	var tree map[string]any
	if v == nil || json.Unmarshal(v.Object, &tree) != nil {
		return nil
	}
	kind, _ := tree["kind"].(string)
	named := map[string]bool{}
	for _, ref := range refs.Builtin().Extract(graph.Kind{Group: v.Key.Group, Kind: kind}, tree) {
		if !ref.Inferred && ref.Selector == nil && !g.Watches(ref.To.Group, ref.To.Kind) {
			name := ref.To.Kind + "/" + ref.Name
			if ref.Namespace != "" && ref.Namespace != v.Key.Namespace {
				name = ref.To.Kind + "/" + ref.Namespace + "/" + ref.Name
			}
			named[printable.Text(name)] = true
		}
	}
	return slices.Sorted(maps.Keys(named))
}

// bound returns the users and groups of a binding in the graph, in words. Beyond mostLookedUp it returns a
// remark.
func (l *lookup) bound(ctx context.Context, key client.Key) string {
	if !isBinding(key) {
		return ""
	}
	if l.bindings >= mostLookedUp {
		return fmt.Sprintf("not looked up: more than %d", mostLookedUp)
	}
	l.bindings++
	object, err := l.view.client.GetObject(ctx, l.view.namespace, l.view.name, key)
	if err != nil {
		return ""
	}
	names := people(&object.Vertex)
	if len(names) == 0 {
		return ""
	}
	return "for " + strings.Join(names, ", ")
}

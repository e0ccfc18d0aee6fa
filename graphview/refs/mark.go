package refs

import (
	"strings"

	"graphview.dev/graphview/graph"
)

// The keys of marks. No label can have such a key.
const (
	// numberedMark has as its value the name of a claim without its ordinal: data-web for data-web-0.
	numberedMark = "numbered/"
	// trackedMark has as its value the application that tracks an object, a slash and the object's name.
	trackedMark = "tracked/"
	// namedMark has as its value the object's name, for kinds that others name without their namespace.
	namedMark = "named/"
)

// trackingID is Argo CD's annotation application:group/kind:namespace/name.
const trackingID = "argocd.argoproj.io/tracking-id"

// Mark adds the marks of an object to its labels. Rules of other kinds select the object by them.
func Mark(kind graph.Kind, object map[string]any, labels map[string]string) map[string]string {
	metadata, _ := object["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	add := func(key, value string) {
		if labels == nil {
			labels = make(map[string]string, 1)
		}
		labels[key] = value
	}
	if end := strings.LastIndexByte(name, '-'); kind == kinds["PersistentVolumeClaim"].To && end > 0 && isOrdinal(name[end+1:]) {
		add(numberedMark, name[:end])
	}
	if kind.Group == "metallb.io" && kind.Kind == "IPAddressPool" {
		add(namedMark, name)
	}
	annotations, _ := metadata["annotations"].(map[string]any)
	id, _ := annotations[trackingID].(string)
	application, of, _ := strings.Cut(id[strings.IndexByte(id, '_')+1:], ":") // without the namespace
	said, at, ok := strings.Cut(of, ":")
	namespace, named, _ := strings.Cut(at, "/")
	// A copy of a tracked object has the annotation too, but another name.
	if own, _ := metadata["namespace"].(string); ok && said == kind.Group+"/"+kind.Kind && named == name && (own == "" || own == namespace) {
		add(trackedMark, application+"/"+name)
	}
	return labels
}

// isOrdinal reports whether a text is a number as a StatefulSet writes it.
func isOrdinal(text string) bool { return isDigits(text) && (text == "0" || text[0] != '0') }

// emitMarked adds a selector of the objects whose mark has the name of ref as its value.
func (e *extraction) emitMarked(l *leaf, ref *graph.Reference) {
	value := ref.Name
	ref.Name = ""
	if ref.AllNamespaces {
		ref.Namespace = ""
	} else if len(l.namespace) > 0 && l.namespace[0].find(e.reached[:]) == nil {
		// An inventory leaves out the namespace of a cluster-scoped object.
		ref.Scope, ref.Namespace = graph.ScopeCluster, ""
	}
	if last := e.found.last(); last != nil && last.Selector != nil && last.Field == ref.Field && last.To == ref.To && last.Namespace == ref.Namespace && e.found.take(1) {
		last.Selector.Requirements[0].Values = append(last.Selector.Requirements[0].Values, value)
		return
	}
	ref.Selector = &graph.Selector{Requirements: []graph.Requirement{{Key: l.mark, Values: []string{value}}}}
	e.found.add(ref)
}

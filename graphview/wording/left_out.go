package wording

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"graphview.dev/graphview/printable"
)

// Gap is a warning about something that a graph lacks: its type, text and attributes in the stream protocol.
type Gap struct {
	Type, Message              string
	Group, Resource, Namespace string
}

// Denied reports whether the reader may not list the resource. A view with the reader's own rights says so
// in the text.
func (g Gap) Denied() bool {
	return g.Type == "ACCESS_DENIED" || strings.Contains(g.Message, "you may not list and watch it")
}

// Covers reports whether the gap is about a resource in a namespace.
func (g Gap) Covers(group, resource, namespace string) bool {
	return g.Group == group && g.Resource == resource && (g.Namespace == "" || g.Namespace == namespace)
}

// Answer describes the graph behind an answer.
type Answer struct {
	// Of is the name of the graph.
	Of string
	// Incomplete: the graph had not synced.
	Incomplete bool
	// Declared: inferred references were left out.
	Declared bool
	// Here: the graph is of some namespaces, and the answer is about the references to an object.
	Here bool
	Gaps []Gap
}

// mostNamed bounds the resources that a line names.
const mostNamed = 4

// LeftOut returns all that an answer leaves out, as lines for people. The resources that one reason leaves out share a line.
func (a *Answer) LeftOut() (lines []string) {
	if a.Incomplete {
		lines = append(lines, a.Of+" is not complete yet: there may be more.")
	}
	denied := map[string][]string{}  // namespaces by resource
	reasons := map[string][]string{} // resources that the view cannot read
	for _, gap := range a.Gaps {
		name := gap.Resource
		if gap.Group != "" {
			name += "." + gap.Group
		}
		reason, unread := strings.CutPrefix(gap.Message, name+": ")
		switch {
		case gap.Denied():
			denied[name] = append(denied[name], gap.Namespace)
		case unread:
			reasons[reason] = append(reasons[reason], name)
		default:
			lines = append(lines, gap.text())
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		slices.Sort(reasons[reason])
		lines = append(lines, "Left out, since the view cannot read it: "+named(reasons[reason])+". "+reason)
	}
	places := map[string][]string{} // resources by their namespaces
	for _, name := range slices.Sorted(maps.Keys(denied)) {
		where := ""
		if namespaces := slices.DeleteFunc(denied[name], func(namespace string) bool { return namespace == "" }); len(namespaces) > 0 {
			slices.Sort(namespaces)
			where = " in " + strings.Join(namespaces, " and ")
		}
		places[where] = append(places[where], name)
	}
	for _, where := range slices.Sorted(maps.Keys(places)) {
		lines = append(lines, "Left out, since you may not list it"+where+": "+named(places[where])+".")
	}
	if a.Here {
		lines = append(lines, "References from other namespaces were not looked at.")
	}
	if a.Declared {
		lines = append(lines, "Inferred references were left out.")
	}
	for i := range lines {
		lines[i] = printable.Text(lines[i])
	}
	return lines
}

// named returns the first of some names, and how many more there are.
func named(names []string) string {
	if len(names) <= mostNamed+1 { // one more is named as shortly as counted
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more resources", strings.Join(names[:mostNamed], ", "), len(names)-mostNamed)
}

// text returns a line about a gap that has no resource, or no reason of its own.
func (g Gap) text() string {
	switch g.Type {
	case "INFORMER_SYNC_FAILED":
		return "Not all of it can be read: " + g.Message
	case "DISCOVERY_FAILED":
		return "Not all kinds of the cluster are known: " + g.Message
	case "NAMESPACE_LIST_FAILED":
		return "The namespaces of the cluster are not known: " + g.Message
	case "OBJECT_PROCESSING_FAILED":
		return "Objects are left out or understood in part: " + g.Message
	case "LIMIT_EXCEEDED":
		return "A limit is exceeded: " + g.Message
	default: // the message says all
		return g.Message
	}
}

// Absent is an object that a graph does not have.
type Absent struct {
	// Kind is the name of its kind, or of its resource if the view does not select that.
	Kind, Resource, Namespace, Name string
	Selected                        bool
	// Denied: the reader may not list the resource there.
	Denied bool
	// Referrers counts the objects of the graph that refer to it.
	Referrers int
}

// Text returns a sentence about the object.
func (a *Absent) Text() string {
	place := ""
	if a.Namespace != "" {
		place = fmt.Sprintf(" in namespace %q", a.Namespace)
	}
	switch {
	case a.Denied && a.Referrers == 0:
		return fmt.Sprintf("you may not list %s%s; no object that you may see refers to %q", a.Resource, place, a.Name)
	case a.Denied && a.Referrers == 1:
		return fmt.Sprintf("you may not list %s%s; 1 object that you may see refers to %q", a.Resource, place, a.Name)
	case a.Denied:
		return fmt.Sprintf("you may not list %s%s; %d objects that you may see refer to %q", a.Resource, place, a.Referrers, a.Name)
	case !a.Selected:
		return fmt.Sprintf("%s %q not found%s: the view does not select %s", a.Kind, a.Name, place, a.Kind)
	}
	return fmt.Sprintf("%s %q not found%s", a.Kind, a.Name, place)
}

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

// mostDenied bounds the resources that are named.
const mostDenied = 8

// LeftOut returns all that an answer leaves out, as lines for people.
func (a *Answer) LeftOut() (lines []string) {
	if a.Incomplete {
		lines = append(lines, a.Of+" is not complete yet: there may be more.")
	}
	denied := map[string][]string{} // namespaces by resource
	for _, gap := range a.Gaps {
		if !gap.Denied() {
			lines = append(lines, gap.Type+": "+gap.Message)
			continue
		}
		name := gap.Resource
		if gap.Group != "" {
			name += "." + gap.Group
		}
		denied[name] = append(denied[name], gap.Namespace)
	}
	if len(denied) > 0 {
		lines = append(lines, "Left out, because you may not list and watch it:")
	}
	names := slices.Sorted(maps.Keys(denied))
	for _, name := range names[:min(len(names), mostDenied)] {
		if where := slices.DeleteFunc(denied[name], func(namespace string) bool { return namespace == "" }); len(where) > 0 {
			name += " in " + strings.Join(where, ", ")
		}
		lines = append(lines, "  "+name)
	}
	switch more := len(names) - mostDenied; {
	case more == 1:
		lines = append(lines, "  and 1 more resource")
	case more > 0:
		lines = append(lines, fmt.Sprintf("  and %d more resources", more))
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

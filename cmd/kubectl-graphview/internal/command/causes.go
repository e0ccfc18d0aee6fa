package command

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"graphview.dev/client"
	"graphview.dev/graphview/health"
)

// stateAbsent is the state of an object that is referred to, absent and not needed.
const stateAbsent = "absent"

// problemsOf returns the problems of a graph, each below its cause.
func (c *cli) problemsOf(v *view, g *client.Graph, s search) []problem {
	namespace := v.namespace
	if s.wide {
		namespace = ""
	}
	in := grouping{view: v.String(), graph: g, kinds: c.newKinds(namespace, g)}
	found := g.Problems(momentOf(g))
	all := make([]problem, 0, len(found))
	for i := range found {
		all = append(all, in.problem(&found[i]))
	}
	if s.optional {
		all = append(all, in.optional()...)
	}
	return all
}

// grouping puts the problems of a graph into words.
type grouping struct {
	view  string
	graph *client.Graph
	kinds *kinds
}

// problem is a cause with its consequences.
func (in *grouping) problem(of *client.Problem) problem {
	p := in.one(of.Object)
	if of.Health != client.HealthMissing {
		p.state, p.severity = of.Health, health.State(of.Health).Severity()
		p.reason = in.reason(of.Object, of.Why)
	}
	switch {
	case of.Shared:
		p.reason = fmt.Sprintf("%s of all %d: the metrics API does not answer", of.Why, len(of.Stops)+1)
	case of.Source != of.Object:
		p.reason += " (" + in.kinds.name(of.Source) + ")"
		p.since = cmp.Or(p.since, healthIn(in.graph, of.Source).Since)
	}
	p.stops = make([]problem, 0, len(of.Stops))
	controlled := in.controlledBy(of.Object)
	for _, key := range of.Stops {
		one := in.one(key)
		one.controlled = controlled(key)
		p.severity = max(p.severity, one.severity)
		p.stops = append(p.stops, one)
	}
	return p
}

// one is the problem of one object.
func (in *grouping) one(key client.Key) problem {
	p := problem{view: in.view, object: in.kinds.name(key), key: key, kind: in.kinds.kind(key)}
	if _, there := in.graph.Vertices[key]; !there {
		p.state, p.severity, p.reason = client.HealthMissing, health.Degraded.Severity(), in.referrers(key)
		return p
	}
	h := healthIn(in.graph, key)
	p.state, p.severity, p.since, p.reason = string(h.State), h.State.Severity(), h.Since, in.reason(key, h.Reason)
	return p
}

// reason adds the counts of an object to a reason.
func (in *grouping) reason(key client.Key, why string) string {
	if h := healthIn(in.graph, key); h.Counted {
		why = strings.TrimSpace(fmt.Sprintf("%s %d/%d ready", why, h.Ready, h.Wanted))
	}
	return cmp.Or(why, "-")
}

// referrers says which objects need an absent one, or refer to it if none needs it. An object counts only if its
// controller does not count too.
func (in *grouping) referrers(key client.Key) string {
	users := map[client.Key]bool{}
	refers := func(a client.Attributes) bool { return a.Missing && a.Outside == "" }
	for _, counts := range []func(client.Attributes) bool{client.Attributes.Absent, refers} {
		for _, arc := range in.graph.In(key) {
			if counts(arc.Attributes) {
				users[arc.From] = true
			}
		}
		if len(users) > 0 {
			break
		}
	}
	var names []string
	for user := range users {
		if !slices.ContainsFunc(in.graph.Out(user), func(arc client.Arc) bool {
			return arc.Type == client.Owner && arc.Attributes.Controller && users[arc.To]
		}) {
			names = append(names, in.kinds.name(user))
		}
	}
	if len(names) == 0 { // they control each other
		return "referred to"
	}
	slices.Sort(names)
	text := "referred to by " + names[0]
	if len(names) > 1 {
		text += fmt.Sprintf(" and %d more", len(names)-1)
	}
	return text
}

// controlledBy returns a function that reports whether an object is the controller of another one, or of its controller.
// The function looks at each controller once, since thousands of objects may have the same thousands.
func (in *grouping) controlledBy(object client.Key) func(other client.Key) bool {
	known := map[client.Key]bool{object: true}
	return func(other client.Key) bool {
		var path []client.Key
		controlled, found := known[other]
		for !found {
			known[other] = false // controllers in a circle, and the last one, lead to no other
			path = append(path, other)
			for _, arc := range in.graph.Out(other) {
				if arc.Type == client.Owner && arc.Attributes.Controller {
					other = arc.To
				}
			}
			controlled, found = known[other]
		}
		for _, key := range path {
			known[key] = controlled
		}
		return controlled
	}
}

// optional returns the objects that are referred to and absent, and that nothing needs.
func (in *grouping) optional() []problem {
	needed := map[client.Key]bool{}
	for arc, a := range in.graph.Arcs {
		if a.Missing && a.Outside == "" {
			needed[arc.To] = needed[arc.To] || !a.Optional
		}
	}
	var all []problem
	for key, needs := range needed {
		if !needs {
			all = append(all, problem{view: in.view, object: in.kinds.name(key), key: key, kind: in.kinds.kind(key), state: stateAbsent, reason: in.referrers(key)})
		}
	}
	return all
}

// follows counts the consequences of a problem: first the objects that it controls, then the others, each kind once.
func (p *problem) follows() string {
	var parts []string
	for _, controlled := range []bool{true, false} {
		of := map[string][]string{}
		for i := range p.stops {
			if s := &p.stops[i]; s.controlled == controlled {
				of[s.kind] = append(of[s.kind], s.object)
			}
		}
		var texts []string
		for kind, names := range of {
			if len(names) == 1 {
				texts = append(texts, names[0])
			} else {
				texts = append(texts, count(len(names), kind))
			}
		}
		if len(texts) == 0 {
			continue
		}
		slices.SortFunc(texts, func(a, b string) int {
			return cmp.Compare(strings.TrimLeft(a, "0123456789 "), strings.TrimLeft(b, "0123456789 "))
		})
		verb := "stops "
		if controlled {
			verb = "with "
		}
		parts = append(parts, verb+strings.Join(texts, ", "))
	}
	return strings.Join(parts, "; ")
}

// merged are the problems of several graphs. An object is in one place, also if it is a cause in one graph and
// follows from another object in the next.
type merged struct {
	heads []*problem
	at    map[client.Key]*problem // the head above each object
}

// unknown returns the problems of a graph whose objects are not in the graphs before it. add merges the others into
// known problems.
func (m *merged) unknown(all []problem) []*problem {
	var unknown []*problem
	for i := range all {
		if m.at[all[i].key] == nil {
			unknown = append(unknown, &all[i])
		}
	}
	return unknown
}

func (m *merged) add(all []problem) {
	if m.at == nil {
		m.at = map[client.Key]*problem{}
	}
	for i := range all {
		p := &all[i]
		head := m.at[p.key]
		if head == nil {
			head = &problem{}
			*head = *p
			head.stops = nil
			m.heads, m.at[p.key] = append(m.heads, head), head
		}
		for _, s := range p.stops {
			switch above := m.at[s.key]; {
			case above == nil:
				head.stops = append(head.stops, s)
			case above != head && above.key == s.key: // it was a cause in another graph
				m.heads = slices.DeleteFunc(m.heads, func(h *problem) bool { return h == above })
				below := above.stops
				above.stops = nil
				head.stops = append(append(head.stops, *above), below...)
				for j := range below {
					m.at[below[j].key] = head
				}
			default:
				continue
			}
			m.at[s.key] = head
			head.severity = max(head.severity, s.severity)
		}
	}
}

func (m *merged) problems() []problem {
	all := make([]problem, 0, len(m.heads))
	for _, head := range m.heads {
		all = append(all, *head)
	}
	return all
}

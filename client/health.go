package client

import (
	"slices"
	"time"
)

// HealthAt returns the health of an object of a graph with summaries at a time, from its summary and its
// neighbours. It is Summary.HealthAt, with two exceptions: "" for an object that has ended and was replaced,
// and degraded for an object that selects none of the objects that it has to select.
func (g *Graph) HealthAt(key Key, now time.Time) (health, why string) {
	v := g.Vertices[key]
	if v == nil || v.Summary == nil || g.replaced(key, now) {
		return "", ""
	}
	health, why = v.Summary.HealthAt(now)
	if health == HealthDegraded || health == "terminating" {
		return health, why
	}
	if text := g.SelectsNothing(key, now); text != "" {
		return HealthDegraded, text
	}
	return health, why
}

// replaced reports whether an object has ended and its controller is healthy.
func (g *Graph) replaced(key Key, now time.Time) bool {
	return g.Vertices[key].Summary.Ended && slices.ContainsFunc(g.Out(key), func(arc Arc) bool {
		owner := g.Vertices[arc.To]
		if arc.Type != Owner || !arc.Attributes.Controller || owner == nil || owner.Summary == nil {
			return false
		}
		health, _ := owner.Summary.HealthAt(now)
		return health == HealthOK
	})
}

// selectsPatience is the time after the creation of an object in which it may select nothing.
const selectsPatience = 10 * time.Minute

// workloads make pods, whose labels they say. They have to be in the graph before a selector of pods is judged.
var workloads = []resource{
	{"apps", "Deployment"}, {"apps", "StatefulSet"}, {"apps", "DaemonSet"}, {"batch", "Job"}, {"batch", "CronJob"},
}

// SelectsNothing returns a sentence such as "selects no Pod: app=web" if an object has to select an object and
// selects none. It returns "" if that is not known, because the graph is incomplete or only a part, and if
// nothing is wrong: a workload makes such pods or is at rest, or the object is younger than ten minutes.
func (g *Graph) SelectsNothing(key Key, now time.Time) string {
	s := g.unmatched(key)
	if s == nil || now.Sub(time.Unix(g.Vertices[key].Summary.Created, 0)) < selectsPatience {
		return ""
	}
	if slices.ContainsFunc(g.explaining(key.Namespace), func(e explaining) bool { return explainedBy(s, e.name, e.summary) }) {
		return ""
	}
	return "selects no " + s.Kind + ": " + s.String()
}

// unmatched returns the selector of an object that has to select an object and selects none, if the graph has all objects
// that say why; otherwise nil.
func (g *Graph) unmatched(key Key) *Selection {
	v := g.Vertices[key]
	if v == nil || v.Summary == nil || v.Summary.Selects == nil || !g.Synced {
		return nil
	}
	s := v.Summary.Selects
	if slices.ContainsFunc(g.Out(key), func(arc Arc) bool { return g.Kind(arc.To) == s.Kind }) {
		return nil
	}
	needed := []resource{{s.Group, s.Kind}}
	if s.Kind == "Pod" {
		needed = append(needed, workloads...)
	}
	for _, kind := range needed {
		if !g.hasAll(kind, key.Namespace) {
			return nil
		}
	}
	return s
}

// hasAll reports whether the graph has all objects of a kind in a namespace.
func (g *Graph) hasAll(kind resource, namespace string) bool {
	for at, known := range g.kinds {
		if at.group != kind.group || known.kind != kind.name {
			continue
		}
		if !known.all {
			return false
		}
		for _, w := range g.warnings {
			about := w.Key()
			if about.Group == at.group && (about.Resource == at.name || about.Resource == "") && (about.Namespace == "" || about.Namespace == namespace) {
				return false
			}
		}
		return true
	}
	return false
}

// explaining is an object that may say why another one selects nothing.
type explaining struct {
	name    string
	summary *Summary
}

// explaining returns the objects of a namespace that may say why an object selects nothing. Thousands of objects may select
// nothing, and the graph is searched once for all of them.
func (g *Graph) explaining(namespace string) []explaining {
	known := g.index()
	if known.explaining == nil {
		known.explaining = map[string][]explaining{}
		for key, v := range g.Vertices {
			if s := v.Summary; s != nil && (len(s.PodLabels) > 0 || atRest(s)) {
				known.explaining[key.Namespace] = append(known.explaining[key.Namespace], explaining{key.Name, s})
			}
		}
	}
	return known.explaining[namespace]
}

// explainedBy reports whether an object of the namespace says why nothing is selected: it makes pods that
// would be selected, or it is at rest and the selector names it.
func explainedBy(s *Selection, name string, maker *Summary) bool {
	if len(maker.PodLabels) > 0 && s.Matches(maker.PodLabels) {
		return true
	}
	return atRest(maker) && slices.ContainsFunc(s.Requirements, func(r Requirement) bool { return r.Operator == "In" && slices.Contains(r.Values, name) })
}

// atRest reports whether an object is meant to have no pods.
func atRest(s *Summary) bool { return s.Health == "suspended" || s.Ready != nil && s.Ready[1] == 0 }

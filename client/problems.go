package client

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// HealthMissing is the health of a Problem whose object is referred to, needed and absent.
const HealthMissing = "missing"

// Problem is a cause, with the problems that follow from it. docs/health.md has the rule.
type Problem struct {
	// Object is the cause, or the outermost controller of it that is unhealthy too.
	Object Key
	// Health is missing, degraded, progressing or terminating.
	Health string
	// Source is the object that Why is about: Object, or an object that it controls.
	Source Key
	Why    string
	// Shared: every object of this kind has this problem, and Stops are the others.
	Shared bool
	// Stops are the other problems that follow, sorted. Each problem of a graph is in one place.
	Stops []Key
}

// severity orders healths; 0 is no problem.
func severity(health string) int {
	return 1 + slices.Index([]string{"terminating", "progressing", HealthDegraded, HealthMissing}, health)
}

// trouble is a problem of a graph before it is grouped.
type trouble struct {
	key         Key
	health, why string
	effects     []Key
	caused      bool
	root        *trouble // of its group
	// controller is the controller of the object if that is unhealthy in the same way, otherwise nil.
	controller *trouble
	// climbed is the last root whose controllers included the object. passed: one of them was the root of its group.
	climbed *trouble
	passed  bool
}

// Problems returns the unhealthy and missing objects of a graph with summaries, each below its cause, worst first.
func (g *Graph) Problems(now time.Time) []Problem {
	all := g.troubles(now)
	order := slices.SortedFunc(maps.Keys(all), func(a, b Key) int {
		return cmp.Or(severity(all[b].health)-severity(all[a].health), a.Compare(b))
	})
	for _, key := range order {
		for _, cause := range g.causes(key, all) {
			all[cause].effects, all[key].caused = append(all[cause].effects, key), true
		}
	}
	var roots []*trouble
	for _, caused := range []bool{false, true} { // a circle of causes begins with its worst
		for _, key := range order {
			if t := all[key]; t.caused == caused && t.root == nil {
				roots = append(roots, t)
				spread(t, all)
			}
		}
	}
	groups, groupOf := g.gather(roots, all)
	for _, key := range order {
		if p := groupOf[all[key].root]; p.Object != key {
			p.Stops = append(p.Stops, key)
		}
	}
	g.share(groups, now)
	problems := make([]Problem, 0, len(groups))
	for _, p := range groups {
		slices.SortFunc(p.Stops, Key.Compare)
		problems = append(problems, *p)
	}
	worst := func(p *Problem) int {
		of := severity(p.Health)
		for _, key := range p.Stops {
			of = max(of, severity(all[key].health))
		}
		return min(of, severity(HealthDegraded))
	}
	slices.SortFunc(problems, func(a, b Problem) int { return cmp.Or(worst(&b)-worst(&a), a.Object.Compare(b.Object)) })
	return problems
}

// troubles returns the unhealthy and the missing objects.
func (g *Graph) troubles(now time.Time) map[Key]*trouble {
	all := map[Key]*trouble{}
	for key := range g.Vertices {
		if health, why := g.HealthAt(key, now); severity(health) > 0 {
			all[key] = &trouble{key: key, health: health, why: why}
		}
	}
	for arc, a := range g.Arcs {
		if a.Absent() && all[arc.To] == nil {
			all[arc.To] = &trouble{key: arc.To, health: HealthMissing}
		}
	}
	return all
}

// issues is the word of a reference to an object that its referrer makes.
const issues = "issues"

// causes returns the problems that an object's problem follows from: those of the objects that it refers to, unless
// they are milder, and of the objects that it owns, and for an object that another one makes, that of its maker. A
// deletion follows from deletions only.
func (g *Graph) causes(key Key, all map[Key]*trouble) []Key {
	var causes []Key
	add := func(cause Key) {
		if of := all[cause]; of != nil && cause != key && (of.health == "terminating") == (all[key].health == "terminating") {
			causes = append(causes, cause)
		}
	}
	for _, arc := range g.Out(key) {
		if arc.Type != Owner && (!arc.Attributes.Missing || arc.Attributes.Absent()) && !arc.Attributes.Inferred() && !slices.Contains(arc.Attributes.Words, issues) {
			if of := all[arc.To]; of != nil && severity(of.health) >= severity(all[key].health) {
				add(arc.To)
			}
		}
	}
	for _, arc := range g.In(key) {
		if arc.Type == Owner || all[key].health == HealthMissing && slices.Contains(arc.Attributes.Words, issues) {
			add(arc.From)
		}
	}
	return causes
}

// spread makes an object the root of all problems that follow from it and have no root.
func spread(root *trouble, all map[Key]*trouble) {
	root.root = root
	for next := []*trouble{root}; len(next) > 0; next = next[1:] {
		for _, effect := range next[0].effects {
			if t := all[effect]; t.root == nil {
				t.root = root
				next = append(next, t)
			}
		}
	}
}

// gather puts roots below their outermost unhealthy controllers. It returns the groups by the object of each and by
// root. It keeps no list of the controllers of a root, since thousands of roots may have the same thousands.
func (g *Graph) gather(roots []*trouble, all map[Key]*trouble) (groups map[Key]*Problem, groupOf map[*trouble]*Problem) {
	for _, t := range all {
		t.controller = g.unhealthyController(t, all)
	}
	groups, groupOf = map[Key]*Problem{}, map[*trouble]*Problem{}
	for _, root := range roots {
		head := root
		for head.climbed, head.passed = root, true; ; {
			owner := head.controller
			if owner == nil || owner.climbed == root || owner.root != root && !owner.passed {
				break
			}
			owner.climbed, owner.passed = root, owner.passed || owner.root == root
			head = owner
		}
		p := groups[head.key]
		if p == nil {
			p = &Problem{Object: head.key, Source: head.key, Health: head.health, Why: head.why}
			groups[head.key] = p
		}
		if p.Source == head.key && root.why != "" && severity(root.health) >= severity(p.Health) {
			p.Source, p.Health, p.Why = root.key, root.health, root.why
		}
		groupOf[root] = p
	}
	return groups, groupOf
}

// unhealthyController returns the controller of an object if it is unhealthy in the same way, otherwise nil.
func (g *Graph) unhealthyController(t *trouble, all map[Key]*trouble) *trouble {
	for _, arc := range g.Out(t.key) {
		of := all[arc.To]
		if arc.Type == Owner && arc.Attributes.Controller && of != nil && of.health != HealthMissing && (of.health == "terminating") == (t.health == "terminating") {
			return of
		}
	}
	return nil
}

// share merges the problems of all autoscalers of a graph if none of them gets a metric: the cause is the metrics API.
func (g *Graph) share(groups map[Key]*Problem, now time.Time) {
	alike := map[string][]Key{}
	for key, v := range g.Vertices {
		if v.Summary == nil || key.Group != "autoscaling" || v.Summary.Kind != "HorizontalPodAutoscaler" {
			continue
		}
		if health, _ := g.HealthAt(key, now); health == HealthOK {
			return
		}
		if p := groups[key]; p != nil && len(p.Stops) == 0 && strings.HasPrefix(p.Why, "FailedGet") && strings.HasSuffix(p.Why, "Metric") {
			alike[p.Why] = append(alike[p.Why], key)
		}
	}
	for _, keys := range alike {
		if len(keys) < 2 {
			continue
		}
		slices.SortFunc(keys, func(a, b Key) int {
			return cmp.Or(severity(groups[b].Health)-severity(groups[a].Health), a.Compare(b))
		})
		first := groups[keys[0]]
		first.Shared, first.Stops = true, keys[1:]
		for _, key := range keys[1:] {
			delete(groups, key)
		}
	}
}

package command

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"graphview.dev/client"
	"graphview.dev/graphview/health"
	"graphview.dev/graphview/printable"
)

// healthOf returns the health of an object: from its summary, which knows the ReferenceRules,
// else from its fields. It is unknown if only a part of the object is there.
func healthOf(v *client.Vertex) health.Health {
	if v != nil && v.Summary != nil {
		said, why := v.Summary.HealthAt(time.Now())
		return summaryHealth(v.Summary, said, why)
	}
	if v == nil || len(v.Object) == 0 {
		return health.Health{State: health.Unknown}
	}
	var object struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(v.Object, &object); err != nil {
		return health.Health{State: health.Unknown}
	}
	return health.Of(health.Kind{Group: v.Key.Group, Kind: object.Kind}, v.Object).At(time.Now())
}

// healthIn returns the health of an object, also from its neighbours in a graph with summaries.
func healthIn(g *client.Graph, key client.Key) health.Health {
	v := g.Vertices[key]
	if v == nil || v.Summary == nil {
		return healthOf(v)
	}
	said, why := g.HealthAt(key, momentOf(g))
	return summaryHealth(v.Summary, said, why)
}

// momentOf returns the time at which a graph is looked at: its own, or now.
func momentOf(g *client.Graph) time.Time {
	if g.At.IsZero() {
		return time.Now()
	}
	return g.At
}

func summaryHealth(s *client.Summary, said, why string) health.Health {
	h := health.Health{State: health.State(cmp.Or(said, string(health.Unknown))), Reason: why, Since: s.Since}
	if s.Ready != nil {
		h.Ready, h.Wanted, h.Counted = s.Ready[0], s.Ready[1], true
	}
	return h
}

// state returns the health of an object in a few words, and whether it needs attention.
func state(v *client.Vertex) (text string, bad bool) { return stateText(healthOf(v)) }

func stateText(h health.Health) (text string, bad bool) {
	var words []string
	if h.Reason != "" && (h.State != health.OK || !h.Counted) {
		words = append(words, h.Reason)
	} else if h.State != health.OK && h.State != health.Unknown && h.Ready == h.Wanted {
		words = append(words, string(h.State))
	}
	if h.Counted {
		words = append(words, fmt.Sprintf("%d/%d ready", h.Ready, h.Wanted))
	}
	return printable.Text(strings.Join(words, ", ")), h.State.Severity() > health.Unknown.Severity()
}

// stateIn is state for an object that was read again. Its neighbours in the graph count too.
func stateIn(g *client.Graph, key client.Key, whole *client.Vertex) (text string, bad bool) {
	if g.SelectsNothing(key, time.Now()) != "" {
		return stateText(healthIn(g, key))
	}
	return state(whole)
}

// states returns a cached state: a vertex to which many refer is drawn many
// times.
func states(g *client.Graph) func(client.Key) (text string, bad bool) {
	type answer struct {
		text string
		bad  bool
	}
	known := map[client.Key]answer{}
	return func(key client.Key) (string, bool) {
		a, ok := known[key]
		if !ok {
			a.text, a.bad = stateText(healthIn(g, key))
			known[key] = a
		}
		return a.text, a.bad
	}
}

// troubleReport has the fields in which objects of many kinds report failures.
type troubleReport struct {
	Metadata struct {
		Finalizers []string `json:"finalizers"`
	} `json:"metadata"`
	Status struct {
		conditionList

		Parents           []conditionList `json:"parents"`
		Ancestors         []conditionList `json:"ancestors"`
		Listeners         []conditionList `json:"listeners"`
		ContainerStatuses []container     `json:"containerStatuses"`
		InitContainers    []container     `json:"initContainerStatuses"`
	} `json:"status"`
}

type conditionList struct {
	Conditions []statusCondition `json:"conditions"`
}

type statusCondition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

type container struct {
	Name  string `json:"name"`
	State struct {
		Waiting *struct {
			Reason  string `json:"reason"`
			Message string `json:"message"`
		} `json:"waiting"`
	} `json:"state"`
}

// troubles returns the failures that an object reports: the condition that decided first,
// then True conditions that name a failure, then False ones of the usual types. A healthy object
// has none.
func troubles(v *client.Vertex) []string {
	var report troubleReport
	if v == nil || len(v.Object) == 0 || json.Unmarshal(v.Object, &report) != nil {
		return nil
	}
	h := healthOf(v)
	if h.State == health.OK || h.State == health.Suspended {
		return nil
	}
	var all []string
	if h.State == health.Terminating && len(report.Metadata.Finalizers) > 0 {
		all = append(all, oneLine("waits for the finalizers "+strings.Join(report.Metadata.Finalizers, ", ")))
	}
	for _, c := range append(report.Status.InitContainers, report.Status.ContainerStatuses...) {
		if w := c.State.Waiting; w != nil {
			all = append(all, oneLine(fmt.Sprintf("container %s waits: %s %s", c.Name, w.Reason, w.Message)))
		}
	}
	conditions := report.Status.Conditions
	for _, lists := range [][]conditionList{report.Status.Parents, report.Status.Ancestors, report.Status.Listeners} {
		for _, element := range lists {
			conditions = append(conditions, element.Conditions...)
		}
	}
	rank := func(c statusCondition) int {
		switch {
		case h.Reason != "" && (c.Reason == h.Reason || c.Type == h.Reason) && !(c.Status == "True" && health.Usual(c.Type)):
			return 0
		case c.Status != "False" && health.NamesFailure(c.Type), c.Status == "True" && strings.HasSuffix(c.Type, "Remaining"):
			return 1
		case c.Status == "False" && health.Usual(c.Type):
			return 2
		}
		return 3
	}
	slices.SortStableFunc(conditions, func(a, b statusCondition) int { return cmp.Compare(rank(a), rank(b)) })
	for _, c := range conditions {
		if text := cmp.Or(c.Message, c.Reason); rank(c) < 3 && text != "" {
			all = append(all, oneLine(fmt.Sprintf("%s is %s: %s", c.Type, cmp.Or(c.Status, "reported"), text)))
		}
	}
	return slices.Compact(all)
}

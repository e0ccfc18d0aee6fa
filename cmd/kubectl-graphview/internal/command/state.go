package command

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"graphview.dev/client"
	"graphview.dev/graphview/health"
)

// healthOf is how an object is: as its summary says, which knows the ReferenceRules,
// else by its fields. Of an object of which only a part is there nothing is known.
func healthOf(v *client.Vertex) health.Health {
	if v != nil && v.Summary != nil {
		return summaryHealth(v.Summary).At(time.Now())
	}
	if v == nil || len(v.Object) == 0 {
		return health.Health{State: health.Unknown}
	}
	var object map[string]any
	if err := json.Unmarshal(v.Object, &object); err != nil {
		return health.Health{State: health.Unknown}
	}
	kind, _ := object["kind"].(string)
	return health.Of(health.Kind{Group: v.Key.Group, Kind: kind}, object).At(time.Now())
}

func summaryHealth(s *client.Summary) health.Health {
	h := health.Health{State: health.State(cmp.Or(s.Health, string(health.Unknown))), Reason: s.Why, Since: s.Since, Overdue: s.Overdue}
	if s.Ready != nil {
		h.Ready, h.Wanted, h.Counted = s.Ready[0], s.Ready[1], true
	}
	return h
}

// state is how an object is, in a few words, and whether that needs somebody's
// attention.
func state(v *client.Vertex) (text string, bad bool) {
	h := healthOf(v)
	var words []string
	if h.Reason != "" && (h.State != health.OK || !h.Counted) {
		words = append(words, h.Reason)
	} else if h.State != health.OK && h.State != health.Unknown {
		words = append(words, string(h.State))
	}
	if h.Counted {
		words = append(words, fmt.Sprintf("%d/%d ready", h.Ready, h.Wanted))
	}
	return strings.Join(words, ", "), h.State.Severity() > health.Unknown.Severity()
}

// states are those of a graph's vertices, each looked at once: what many refer to
// is drawn many times.
func states(g *client.Graph) func(client.Key) (text string, bad bool) {
	type answer struct {
		text string
		bad  bool
	}
	known := map[client.Key]answer{}
	return func(key client.Key) (string, bool) {
		a, ok := known[key]
		if !ok {
			a.text, a.bad = state(g.Vertices[key])
			known[key] = a
		}
		return a.text, a.bad
	}
}

// complaints is where objects of many kinds say what is wrong.
type complaints struct {
	Status struct {
		Conditions []struct {
			Type    string `json:"type"`
			Status  string `json:"status"`
			Message string `json:"message"`
		} `json:"conditions"`
		ContainerStatuses []container `json:"containerStatuses"`
		InitContainers    []container `json:"initContainerStatuses"`
	} `json:"status"`
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

// troubles are what an object says is wrong with it.
func troubles(v *client.Vertex) []string {
	var said complaints
	if v == nil || len(v.Object) == 0 || json.Unmarshal(v.Object, &said) != nil {
		return nil
	}
	var all []string
	for _, c := range append(said.Status.InitContainers, said.Status.ContainerStatuses...) {
		if w := c.State.Waiting; w != nil {
			all = append(all, oneLine(fmt.Sprintf("container %s waits: %s %s", c.Name, w.Reason, w.Message)))
		}
	}
	for _, c := range said.Status.Conditions {
		if c.Status == "False" && c.Message != "" {
			all = append(all, oneLine(fmt.Sprintf("%s is False: %s", c.Type, c.Message)))
		}
	}
	return all
}

package command

import (
	"cmp"
	"encoding/json"
	"fmt"

	"graphview.dev/client"
)

// status is what objects of many kinds say about how they are.
type status struct {
	Metadata struct {
		DeletionTimestamp string `json:"deletionTimestamp"`
	} `json:"metadata"`
	Spec struct {
		Replicas *int `json:"replicas"`
	} `json:"spec"`
	Status struct {
		Phase             string      `json:"phase"`
		ReadyReplicas     int         `json:"readyReplicas"`
		Conditions        []condition `json:"conditions"`
		ContainerStatuses []container `json:"containerStatuses"`
		InitContainers    []container `json:"initContainerStatuses"`
	} `json:"status"`
}

type condition struct {
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

// state is how an object is, in a word or two, and whether that needs somebody's
// attention. Of an object that is not there in whole nothing is known.
func state(v *client.Vertex) (text string, bad bool) {
	if v == nil || len(v.Object) == 0 {
		return "", false
	}
	var s status
	if err := json.Unmarshal(v.Object, &s); err != nil {
		return "", false // a kind that means something else by these names
	}
	if s.Metadata.DeletionTimestamp != "" {
		return "Terminating", true
	}
	for _, list := range [][]container{s.Status.InitContainers, s.Status.ContainerStatuses} {
		for _, c := range list {
			if w := c.State.Waiting; w != nil && w.Reason != "" && w.Reason != "PodInitializing" && w.Reason != "ContainerCreating" {
				return w.Reason, true
			}
		}
	}
	if phase := s.Status.Phase; phase != "" {
		bad := phase == "Pending" || phase == "Failed" || phase == "Unknown" || phase == "Lost" || phase == "Terminating"
		return phase, bad
	}
	if s.Spec.Replicas != nil {
		return fmt.Sprintf("%d/%d ready", s.Status.ReadyReplicas, *s.Spec.Replicas), s.Status.ReadyReplicas < *s.Spec.Replicas
	}
	for _, c := range s.Status.Conditions {
		if (c.Type == "Ready" || c.Type == "Available") && c.Status == "False" {
			return cmp.Or(c.Reason, "not "+c.Type), true
		}
	}
	return "", false
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

// troubles are what an object says is wrong with it.
func troubles(v *client.Vertex) []string {
	var s status
	if v == nil || len(v.Object) == 0 || json.Unmarshal(v.Object, &s) != nil {
		return nil
	}
	var all []string
	for _, c := range append(s.Status.InitContainers, s.Status.ContainerStatuses...) {
		if w := c.State.Waiting; w != nil {
			all = append(all, fmt.Sprintf("container %s waits: %s %s", c.Name, w.Reason, w.Message))
		}
	}
	for _, c := range s.Status.Conditions {
		if c.Status == "False" && c.Message != "" {
			all = append(all, fmt.Sprintf("%s is False: %s", c.Type, c.Message))
		}
	}
	return all
}

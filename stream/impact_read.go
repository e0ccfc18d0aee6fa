package stream

import (
	"encoding/json"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/impact"
	"graphview.dev/graphview/wording"
)

// impactReader collects a graph with summaries.
type impactReader struct {
	// excludeInferred leaves out the references that are only inferred.
	excludeInferred bool

	graph    impact.Graph
	kinds    map[graph.Resource]string
	warnings []json.RawMessage
	gaps     []wording.Gap // of the warnings
	synced   bool
}

// readAction is an action of a graph with summaries.
type readAction struct {
	SetVertex *struct {
		Vertex  exportedKey `json:"vx"`
		Summary struct {
			Kind     string `json:"k"`
			Deletion struct {
				Finalizers  []string       `json:"f"`
				Prunes      bool           `json:"p"`
				Kept        bool           `json:"k"`
				Ended       bool           `json:"e"`
				Suspended   bool           `json:"s"`
				Grants      []impact.Grant `json:"g"`
				Unscheduled bool           `json:"u"`
			} `json:"del"`
		} `json:"m"`
	} `json:"svx"`
	DeleteVertex *struct {
		Vertex exportedKey `json:"vx"`
	} `json:"dvx"`
	SetArc    *readArc `json:"sarc"`
	DeleteArc *readArc `json:"darc"`
}

// readArc is an arc of an action.
type readArc struct {
	From       exportedKey `json:"s"`
	To         exportedKey `json:"d"`
	Type       string      `json:"t"`
	Attributes struct {
		Controller bool     `json:"c"`
		Blocking   bool     `json:"b"`
		Missing    bool     `json:"e"`
		Outside    string   `json:"x"`
		Optional   bool     `json:"o"`
		Fields     []string `json:"f"`
		Words      []string `json:"w"`
	} `json:"a"`
}

func (k exportedKey) key() graph.Key {
	return graph.Key{Resource: graph.Resource{Group: k.Group, Version: k.Version, Resource: k.Resource}, Namespace: k.Namespace, Name: k.Name}
}

func (a *readArc) key() impact.ArcKey {
	typ, _ := graph.ParseArcType(a.Type)
	return impact.ArcKey{From: a.From.key(), To: a.To.key(), Type: typ}
}

// add reports whether the graph is complete.
func (r *impactReader) add(frames []*delivery.Frame) (complete bool, err error) {
	for _, frame := range frames {
		if frame.Reset {
			*r = impactReader{excludeInferred: r.excludeInferred}
		}
		if err := eachElement(frame.Actions, r.act); err != nil {
			return false, fmt.Errorf("actions: %w", err)
		}
		if err := eachElement(frame.Warnings, r.warn); err != nil {
			return false, fmt.Errorf("warnings: %w", err)
		}
		if len(frame.Kinds) > 0 {
			r.kinds = map[graph.Resource]string{}
			if err := eachElement(frame.Kinds, r.learn); err != nil {
				return false, fmt.Errorf("kinds: %w", err)
			}
		}
		r.synced = r.synced || frame.Synced
		if frame.Rev != "" {
			return true, nil
		}
	}
	return false, nil
}

func (r *impactReader) act(action readAction) error {
	switch {
	case action.SetVertex != nil:
		summary := &action.SetVertex.Summary
		r.graph.Set(action.SetVertex.Vertex.key(), impact.Object{Kind: summary.Kind, Facts: impact.Facts(summary.Deletion)})
	case action.DeleteVertex != nil:
		r.graph.Delete(action.DeleteVertex.Vertex.key())
	case action.SetArc != nil:
		a := &action.SetArc.Attributes
		if r.excludeInferred && impact.Inferred(a.Fields) {
			r.graph.DeleteArc(action.SetArc.key()) // something else made it before
			return nil
		}
		r.graph.SetArc(action.SetArc.key(), impact.Arc{
			Fields: a.Fields, Words: a.Words, Controller: a.Controller, Blocking: a.Blocking, Optional: a.Optional,
			Missing: a.Missing, Outside: a.Outside != "",
		})
	case action.DeleteArc != nil:
		r.graph.DeleteArc(action.DeleteArc.key())
	}
	return nil
}

func (r *impactReader) warn(warning jsontext.Value) error {
	var said struct {
		Type       string `json:"t"`
		Message    string `json:"m"`
		Attributes struct {
			Group     string `json:"g"`
			Resource  string `json:"r"`
			Namespace string `json:"ns"`
		} `json:"a"`
	}
	if err := json.Unmarshal(warning, &said); err != nil {
		return err
	}
	r.warnings = append(r.warnings, json.RawMessage(warning))
	at := &said.Attributes
	r.gaps = append(r.gaps, wording.Gap{Type: said.Type, Message: said.Message, Group: at.Group, Resource: at.Resource, Namespace: at.Namespace})
	return nil
}

func (r *impactReader) learn(kind struct {
	Group    string `json:"g"`
	Resource string `json:"r"`
	Kind     string `json:"k"`
},
) error {
	r.kinds[graph.Resource{Group: kind.Group, Resource: kind.Resource}] = kind.Kind
	return nil
}

// kind is that of a key's resource, and whether the view selects the resource.
func (r *impactReader) kind(key graph.Key) (kind string, selected bool) {
	kind, selected = r.kinds[graph.Resource{Group: key.Group, Resource: key.Resource.Resource}]
	if !selected {
		kind = key.Resource.Resource
	}
	return kind, selected
}

// impactAnswer is an answer on the wire.
type impactAnswer struct {
	Object   exportedKey       `json:"object"`
	Policy   impact.Policy     `json:"propagationPolicy"`
	Counts   map[string]int    `json:"counts"`
	Groups   []impactGroup     `json:"groups"`
	Unseen   int               `json:"unseen,omitempty"`
	Synced   bool              `json:"synced"`
	Warnings []json.RawMessage `json:"warnings,omitempty"`
	LeftOut  []string          `json:"leftOut,omitempty"`
}

type impactGroup struct {
	Verdict string        `json:"verdict"`
	Kind    string        `json:"kind"`
	Objects []exportedKey `json:"objects"`
	Path    []impactStep  `json:"path"`
	Holds   []impactHold  `json:"holds,omitempty"`
	Again   *exportedKey  `json:"again,omitempty"`
}

type impactStep struct {
	From     exportedKey     `json:"s"`
	To       exportedKey     `json:"d"`
	Relation impact.Relation `json:"t"`
	Fields   []string        `json:"f,omitempty"`
	Words    []string        `json:"w,omitempty"`
	Reversed bool            `json:"reversed,omitempty"`
}

type impactHold struct {
	Finalizer string        `json:"finalizer,omitempty"`
	By        []exportedKey `json:"by,omitempty"`
}

func exportedKeyOf(k graph.Key) exportedKey {
	return exportedKey{k.Group, k.Version, k.Resource.Resource, k.Namespace, k.Name}
}

func exportedKeysOf(keys []graph.Key) []exportedKey {
	all := make([]exportedKey, 0, len(keys))
	for _, k := range keys {
		all = append(all, exportedKeyOf(k))
	}
	return all
}

func (r *impactReader) answer(found *impact.Answer, unseen int, leftOut []string) *impactAnswer {
	a := &impactAnswer{
		Object: exportedKeyOf(found.Object), Policy: found.Policy, Counts: map[string]int{}, Groups: make([]impactGroup, 0, len(found.Groups)),
		Unseen: unseen, Synced: r.synced, Warnings: r.warnings, LeftOut: leftOut,
	}
	for verdict, count := range found.Counts {
		a.Counts[impact.Verdict(verdict).String()] = count
	}
	for i := range found.Groups {
		g := &found.Groups[i]
		out := impactGroup{Verdict: g.Verdict.String(), Kind: g.Kind, Objects: exportedKeysOf(g.Objects), Path: make([]impactStep, 0, len(g.Path))}
		for _, step := range g.Path {
			out.Path = append(out.Path, impactStep{exportedKeyOf(step.From), exportedKeyOf(step.To), step.Relation, step.Fields, step.Words, step.Reversed})
		}
		for _, hold := range g.Holds {
			out.Holds = append(out.Holds, impactHold{Finalizer: hold.Finalizer, By: exportedKeysOf(hold.By)})
		}
		if g.Again != nil {
			again := exportedKeyOf(*g.Again)
			out.Again = &again
		}
		a.Groups = append(a.Groups, out)
	}
	return a
}

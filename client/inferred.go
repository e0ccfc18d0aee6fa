package client

import (
	"encoding/json"
	"errors"
	"slices"
)

// excludeInferred takes the arcs that only inferred references make out of a message. An arc that the
// graph has because something else made it is deleted.
func (m *Received) excludeInferred(g *Graph) error {
	if !slices.ContainsFunc(m.Actions, func(a Action) bool { return a.SetArc != nil && a.SetArc.Attributes.Inferred() }) {
		return nil
	}
	return m.rewrite(func(texts []json.RawMessage) ([]json.RawMessage, error) {
		if len(texts) != len(m.Actions) { // the decoder also takes a member Actions
			return nil, errors.New("the actions are not the member actions")
		}
		kept := 0
		for i := range m.Actions {
			a, text := m.Actions[i], texts[i]
			if a.SetArc != nil && a.SetArc.Attributes.Inferred() {
				if _, known := g.Arcs[a.SetArc.Key()]; !known {
					continue
				}
				a = Action{DeleteArc: &Arc{From: a.SetArc.From, To: a.SetArc.To, Type: a.SetArc.Type}}
				var err error
				if text, err = json.Marshal(&a); err != nil {
					return nil, err
				}
			}
			m.Actions[kept], texts[kept] = a, text
			kept++
		}
		m.Actions = m.Actions[:kept]
		return texts[:kept], nil
	})
}

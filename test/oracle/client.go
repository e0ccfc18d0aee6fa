package oracle

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// mostBytes bounds a message of more than one action.
const mostBytes = 1 << 20

// Client follows one subscription. The zero value is ready.
type Client struct {
	// Strict makes Apply return an error when the server breaks the contract:
	// unknown members, messages that are too large, actions out of order, a second synced,
	// a rev at which an arc has no end.
	Strict bool

	graph     Graph
	warnings  map[string]Warning
	rev       string
	synced    bool
	redundant int
	resets    int
}

// Apply applies one message. It returns the message's error as a *StreamError, after it has
// applied the actions.
func (c *Client) Apply(text []byte) error {
	m, err := parseMessage(text, c.Strict)
	if err != nil {
		return err
	}
	if c.Strict && len(text) > mostBytes && len(m.Actions) > 1 {
		return fmt.Errorf("a message of %d bytes with %d actions", len(text), len(m.Actions))
	}
	if m.Reset {
		c.Forget()
		c.resets++
	}
	c.prepare()
	for i, a := range m.Actions {
		if err := c.act(a); err != nil {
			return fmt.Errorf("action %d: %w", i, err)
		}
	}
	for _, w := range m.Cleared {
		delete(c.warnings, w.key())
	}
	for _, w := range m.Warnings {
		c.warnings[w.key()] = w
	}
	if m.Synced {
		if c.Strict && c.synced {
			return errors.New("synced twice")
		}
		c.synced = true
	}
	if m.Rev != "" {
		c.rev = m.Rev
		if err := c.whole(); c.Strict && err != nil {
			return fmt.Errorf("at a rev: %w", err)
		}
	}
	if m.Error != nil {
		return m.Error
	}
	return nil
}

// Forget drops the graph, for a reset, and for a connection that ended before the first rev.
func (c *Client) Forget() {
	c.graph, c.warnings, c.synced, c.rev = Graph{}, nil, false, ""
}

// Resumed prepares for a new connection that continues after Rev: the server sends synced
// and all present warnings again.
func (c *Client) Resumed() { c.warnings, c.synced = nil, false }

// Graph returns the client's graph, which the next Apply changes.
func (c *Client) Graph() Graph { return c.graph }

// Rev returns the last revision, to continue after. Directly after the message
// with the revision, Graph is the view's graph at that time.
func (c *Client) Rev() string { return c.rev }

// Synced reports whether the graph has been complete.
func (c *Client) Synced() bool { return c.synced }

// Redundant counts the elements that were set to their present value. For a
// reader that is current there are none.
func (c *Client) Redundant() int { return c.redundant }

// Resets returns the number of resets.
func (c *Client) Resets() int { return c.resets }

// Warnings returns the present warnings, sorted by type and attributes.
func (c *Client) Warnings() []Warning {
	var live []Warning
	for _, key := range slices.Sorted(maps.Keys(c.warnings)) {
		live = append(live, c.warnings[key])
	}
	return live
}

func (c *Client) prepare() {
	if c.graph.Vertices == nil {
		c.graph = newGraph()
	}
	if c.warnings == nil {
		c.warnings = map[string]Warning{}
	}
}

func (c *Client) act(a action) error {
	members := 0
	for _, set := range []bool{a.SetVertex != nil, a.DeleteVertex != nil, a.SetArc != nil, a.DeleteArc != nil} {
		if set {
			members++
		}
	}
	if members != 1 {
		return fmt.Errorf("%d of svx, dvx, sarc and darc in it", members)
	}
	switch {
	case a.SetVertex != nil:
		if a.SetVertex.Nodes != nil && a.SetVertex.Fields != nil {
			return fmt.Errorf("%s has both j and f", a.SetVertex.Vertex.key())
		}
		if key := a.SetVertex.Vertex.key(); c.Strict && key.Group == "" && key.Resource == "secrets" && (a.SetVertex.Object != nil || a.SetVertex.Nodes != nil) {
			return fmt.Errorf("%s has content", key)
		}
		parts := slices.Concat(a.SetVertex.Nodes, a.SetVertex.Fields)
		return c.setVertex(a.SetVertex.Vertex.key(), a.SetVertex.Object, parts, a.SetVertex.Summary)
	case a.DeleteVertex != nil:
		return c.deleteVertex(a.DeleteVertex.Vertex.key())
	case a.SetArc != nil:
		if (len(a.SetArc.Attributes.Fields) > 0) != (len(a.SetArc.Attributes.Words) > 0) {
			return fmt.Errorf("an arc of the fields %q has the words %q", a.SetArc.Attributes.Fields, a.SetArc.Attributes.Words)
		}
		return c.setArc(a.SetArc.key(), a.SetArc.Attributes.Attributes)
	default:
		delete(c.graph.Arcs, a.DeleteArc.key())
		return nil
	}
}

func (c *Client) setVertex(key VertexKey, object, nodes, summary json.RawMessage) error {
	if c.Strict && object != nil && nodes != nil {
		return fmt.Errorf("%s has both o and j or f", key)
	}
	if c.Strict && summary != nil && (object != nil || nodes != nil) {
		return fmt.Errorf("%s has content beside its summary", key)
	}
	var content any
	for _, text := range []json.RawMessage{object, nodes, summary} {
		if text == nil {
			continue
		}
		if err := json.Unmarshal(text, &content); err != nil {
			return fmt.Errorf("content of %s: %w", key, err)
		}
	}
	if before, ok := c.graph.Vertices[key]; ok && reflect.DeepEqual(before, content) {
		c.redundant++
	}
	c.graph.Vertices[key] = content
	return nil
}

func (c *Client) deleteVertex(key VertexKey) error {
	delete(c.graph.Vertices, key)
	if !c.Strict {
		return nil
	}
	for arc := range c.graph.Arcs {
		if arc.From == key {
			return fmt.Errorf("%s is deleted before %s", key, arc)
		}
	}
	return nil
}

func (c *Client) setArc(key ArcKey, attributes Attributes) error {
	if _, ok := c.graph.Vertices[key.From]; c.Strict && !ok {
		return fmt.Errorf("%s is set before the vertex it starts at", key)
	}
	if before, ok := c.graph.Arcs[key]; ok && reflect.DeepEqual(before, attributes) {
		c.redundant++
	}
	c.graph.Arcs[key] = attributes
	return nil
}

// whole checks that every arc starts at a vertex, and ends at a vertex unless it is
// missing.
func (c *Client) whole() error {
	for key, attributes := range c.graph.Arcs {
		if _, ok := c.graph.Vertices[key.From]; !ok {
			return fmt.Errorf("%s starts nowhere", key)
		}
		if _, ok := c.graph.Vertices[key.To]; !ok && !attributes.Missing {
			return fmt.Errorf("%s ends nowhere and does not say so", key)
		}
	}
	return nil
}

package command

import (
	"bufio"
	"encoding/json"
	"io"

	"graphview.dev/client"
	"graphview.dev/graphview/health"
	"graphview.dev/stream/format"
)

// messageOf returns the message that builds a whole graph.
func messageOf(g *client.Graph) client.Message {
	m := client.Message{Warnings: g.Warnings(), Synced: g.Synced}
	for _, key := range g.Keys() {
		m.Actions = append(m.Actions, client.Action{SetVertex: g.Vertices[key]})
	}
	for _, key := range g.ArcKeys() {
		m.Actions = append(m.Actions, client.Action{SetArc: &client.Arc{From: key.From, To: key.To, Type: key.Type, Attributes: g.Arcs[key]}})
	}
	return m
}

// writeJSON writes a graph as the message that builds it.
func writeJSON(w io.Writer, g *client.Graph) error {
	out := bufio.NewWriter(w)
	if err := json.NewEncoder(out).Encode(messageOf(g)); err != nil {
		return err
	}
	return out.Flush()
}

// formatted returns a graph for the writers of package format.
func formatted(g *client.Graph) *format.Graph {
	f := &format.Graph{Incomplete: !g.Synced}
	for _, key := range g.Keys() {
		how := healthIn(g, key).State
		if how == health.Unknown {
			how = ""
		}
		f.AddVertex(format.Key(key), string(how))
	}
	for _, key := range g.ArcKeys() {
		a := g.Arcs[key]
		f.AddArc(format.Arc{
			From: format.Key(key.From), To: format.Key(key.To), Type: string(key.Type),
			Controller: a.Controller, BlockOwnerDeletion: a.BlockOwnerDeletion, Missing: a.Missing, Fields: a.Fields, Words: a.Words,
			Outside: string(a.Outside), Optional: a.Optional,
		})
	}
	for _, w := range g.Warnings() {
		f.AddWarning(format.Warning{Type: w.Type, Message: w.Message})
	}
	return f
}

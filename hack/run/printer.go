package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// printer writes a stream's messages as lines for a person.
type printer struct {
	out   io.Writer
	known map[string]bool // what was printed as set
	was   bool            // synced before
}

func newPrinter(out io.Writer) *printer { return &printer{out: out, known: map[string]bool{}} }

type vertex struct {
	Resource string `json:"r"`
	Name     string `json:"n"`
}

func (v vertex) String() string { return v.Resource + "/" + v.Name }

type arc struct {
	From       vertex `json:"s"`
	To         vertex `json:"d"`
	Type       string `json:"t"`
	Attributes struct {
		Missing  bool     `json:"e"`
		Outside  string   `json:"x"`
		Optional bool     `json:"o"`
		Fields   []string `json:"f"`
	} `json:"a"`
}

func (a arc) String() string { return fmt.Sprintf("%s -%s-> %s", a.From, a.Type, a.To) }

// print writes what a message says. It answers true once: with the message that
// completes the graph.
func (p *printer) print(text []byte) (synced bool, err error) {
	var message struct {
		Actions []struct {
			SetVertex *struct {
				Vertex vertex `json:"vx"`
			} `json:"svx"`
			DeleteVertex *struct {
				Vertex vertex `json:"vx"`
			} `json:"dvx"`
			SetArc    *arc `json:"sarc"`
			DeleteArc *arc `json:"darc"`
		} `json:"actions"`
		Warnings []warning `json:"warnings"`
		Cleared  []warning `json:"cleared"`
		Error    *struct {
			Message string `json:"message"`
		} `json:"error"`
		Reset  bool `json:"reset"`
		Synced bool `json:"synced"`
	}
	if err := json.Unmarshal(text, &message); err != nil {
		return false, fmt.Errorf("parse message: %w", err)
	}
	if message.Reset {
		p.known = map[string]bool{}
		p.linef("the server starts over")
	}
	for _, action := range message.Actions {
		switch {
		case action.SetVertex != nil:
			p.set(action.SetVertex.Vertex.String(), "")
		case action.DeleteVertex != nil:
			p.deleted(action.DeleteVertex.Vertex.String())
		case action.SetArc != nil:
			p.set(action.SetArc.String(), remark(action.SetArc))
		case action.DeleteArc != nil:
			p.deleted(action.DeleteArc.String())
		}
	}
	for _, w := range message.Warnings {
		p.linef("! %s: %s", w.Type, w.Message)
	}
	for _, w := range message.Cleared {
		p.linef("! %s is over", w.Type)
	}
	if message.Error != nil {
		p.linef("the stream ends: %s", message.Error.Message)
	}
	first := message.Synced && !p.was
	if first {
		p.was = true
		p.linef("the graph is complete: %d vertices and arcs", len(p.known))
	}
	return first, nil
}

type warning struct {
	Type    string `json:"t"`
	Message string `json:"m"`
}

func (p *printer) set(element, remark string) {
	sign := "+"
	if p.known[element] {
		sign = "~"
	}
	p.known[element] = true
	p.linef("%s %s%s", sign, element, remark)
}

func (p *printer) deleted(element string) {
	delete(p.known, element)
	p.linef("- %s", element)
}

func (p *printer) linef(format string, args ...any) { fmt.Fprintf(p.out, "  "+format+"\n", args...) }

// remark says where an arc comes from and whether it leads anywhere.
func remark(a *arc) string {
	words := slices.Clone(a.Attributes.Fields)
	switch {
	case a.Attributes.Outside != "":
		words = append(words, "outside the view")
	case a.Attributes.Optional:
		words = append(words, "absent, optional")
	case a.Attributes.Missing:
		words = append(words, "missing")
	}
	if len(words) == 0 {
		return ""
	}
	return "  (" + strings.Join(words, ", ") + ")"
}

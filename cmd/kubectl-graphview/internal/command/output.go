package command

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"graphview.dev/client"
	"graphview.dev/cmd/kubectl-graphview/internal/outline"
	"graphview.dev/graphview/health"
	"graphview.dev/graphview/printable"
)

// The outputs of kubectl that commands share. "" is text for people.
const (
	outputWide = "wide"
	outputName = "name"
	outputYAML = "yaml"
)

// answerOutputs are the outputs of commands that answer with text for people.
var answerOutputs = []string{outputWide, outputName, outputJSON, outputYAML}

// object is an object of an answer in -o json and yaml.
type object struct {
	Group     string     `json:"group,omitempty"`
	Version   string     `json:"version,omitempty"`
	Resource  string     `json:"resource"`
	Kind      string     `json:"kind"`
	Namespace string     `json:"namespace,omitempty"`
	Name      string     `json:"name"`
	Health    string     `json:"health,omitempty"`
	Reason    string     `json:"reason,omitempty"`
	Ready     string     `json:"ready,omitempty"`
	Created   *time.Time `json:"created,omitempty"`
}

// reference is a reference of an answer.
type reference struct {
	From object `json:"from"`
	To   object `json:"to"`
	// Verb is its meaning, read from From to To.
	Verb   string   `json:"verb"`
	Fields []string `json:"fields,omitempty"`
	// State is missing, absent or outside if To is not in the graph.
	State string `json:"state,omitempty"`
}

// graphAnswer is a graph, or the part of one, in -o json and yaml.
type graphAnswer struct {
	View       string      `json:"view"`
	Complete   bool        `json:"complete"`
	Objects    []object    `json:"objects"`
	References []reference `json:"references"`
	LeftOut    []string    `json:"leftOut,omitempty"`
}

// addOutput adds -o to a command whose answer is text for people.
func addOutput(cmd *cobra.Command, output *string) {
	cmd.Flags().StringVarP(output, "output", "o", "", "One of "+strings.Join(answerOutputs, ", "))
}

// reached is the part of a graph that arcs lead to from an object, up to a depth unless that is 0.
func reached(g *client.Graph, start client.Key, depth int, arcs func(client.Key) []client.Arc) *client.Graph {
	part := g.Clone()
	clear(part.Vertices)
	clear(part.Arcs)
	seen := map[client.Key]bool{start: true}
	for level, next := 0, []client.Key{start}; len(next) > 0; level++ {
		var below []client.Key
		for _, key := range next {
			if v := g.Vertices[key]; v != nil {
				part.Vertices[key] = v
			}
			if depth > 0 && level == depth {
				continue
			}
			for _, arc := range arcs(key) {
				part.Arcs[arc.Key()] = arc.Attributes
				for _, end := range []client.Key{arc.From, arc.To} {
					if !seen[end] {
						seen[end] = true
						below = append(below, end)
					}
				}
			}
		}
		next = below
	}
	return part
}

// below returns the arcs from an object to the objects that a tree draws below it.
func below(g *client.Graph, reverse bool) func(client.Key) []client.Arc {
	return func(key client.Key) []client.Arc {
		return slices.Concat(
			slices.DeleteFunc(g.Out(key), func(arc client.Arc) bool { return (arc.Type == client.Owner) != reverse }),
			slices.DeleteFunc(g.In(key), func(arc client.Arc) bool { return (arc.Type == client.Owner) == reverse }),
		)
	}
}

// writeAnswer writes a graph as -o name, json or yaml.
func (c *cli) writeAnswer(output string, v *view, g *client.Graph) error {
	k := c.newKinds(v.namespace, g)
	answer := graphAnswer{View: v.String(), Complete: g.Synced, Objects: []object{}, References: []reference{}, LeftOut: answerFrom(v, g, false).LeftOut()}
	for _, key := range g.Keys() {
		answer.Objects = append(answer.Objects, k.object(g, key))
	}
	if output == outputName {
		c.writeNames(answer.Objects)
		return nil
	}
	for _, key := range g.ArcKeys() {
		a := g.Arcs[key]
		answer.References = append(answer.References, reference{
			From: k.named(key.From), To: k.named(key.To), Verb: outline.Verb(key.Type, a), Fields: a.Fields, State: absenceState(a),
		})
	}
	return c.writeObject(output, answer)
}

// writeNames writes objects as kubectl -o name does.
func (c *cli) writeNames(all []object) {
	for i := range all {
		fmt.Fprintln(c.Out, printable.Text(strings.ToLower(all[i].Kind)+dotted(all[i].Group)+"/"+all[i].Name))
	}
}

// named is an object by its name alone.
func (k *kinds) named(key client.Key) object {
	return object{Group: key.Group, Version: key.Version, Resource: key.Resource, Kind: k.kind(key), Namespace: key.Namespace, Name: key.Name}
}

// object is an object with its health.
func (k *kinds) object(g *client.Graph, key client.Key) object {
	o, h := k.named(key), healthIn(g, key)
	if h.State != health.Unknown {
		o.Health = string(h.State)
	}
	o.Reason = h.Reason
	if h.Counted {
		o.Ready = fmt.Sprintf("%d/%d", h.Ready, h.Wanted)
	}
	if v := g.Vertices[key]; v != nil && v.Summary != nil && v.Summary.Created != 0 {
		created := time.Unix(v.Summary.Created, 0).UTC()
		o.Created = &created
	}
	return o
}

// absenceState is the state of a reference whose end is not in the graph.
func absenceState(a client.Attributes) string {
	switch {
	case !a.Missing:
		return ""
	case a.Outside != "":
		return "outside"
	case a.Optional:
		return stateAbsent
	default:
		return client.HealthMissing
	}
}

// writeObject writes a value as -o json or yaml.
func (c *cli) writeObject(output string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	text = append(text, '\n')
	if err == nil && output == outputYAML {
		text, err = yaml.JSONToYAML(text)
	}
	if err == nil {
		_, err = c.Out.Write(text)
	}
	if err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}

// listed is a graph of list in -o json and yaml.
type listed struct {
	Cluster    string `json:"cluster,omitempty"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
	Ready      bool   `json:"ready"`
	Objects    int    `json:"objects"`
	References int    `json:"references"`
	// Message says why the cluster does not answer, with --all-links.
	Message string `json:"message,omitempty"`
}

func listedOf(cluster string, g *client.Listed) listed {
	return listed{Cluster: cluster, Namespace: g.Namespace, Name: g.Name, Ready: g.Synced, Objects: g.Vertices, References: g.Arcs}
}

package command

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"graphview.dev/client"
	"graphview.dev/cmd/kubectl-graphview/internal/offline"
	"graphview.dev/graphview/advice"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/health"
)

// The outputs of problems --from for the annotations of GitHub and GitLab.
const (
	outputSARIF = "sarif"
	outputJUnit = "junit"
)

// place is where a manifest has a reference.
type place struct {
	offline.Position

	object, field string
}

// stateWrong is the state of a reference to a key or a port that its target does not have.
const stateWrong = "wrong"

// manifestProblems are the objects that manifests refer to and do not have, and the mistakes in the
// references to others.
func (c *cli) manifestProblems(v *view, g *client.Graph, wide bool) []problem {
	m, namespace := c.local.read(), v.namespace
	if wide {
		namespace = ""
	}
	k := c.newKinds(namespace, g)
	arcs := map[client.Key][]client.Arc{}
	for key, a := range g.Arcs {
		// Not to be there is no fault of a cluster, but one of the manifests that bind it.
		subject := a.Missing && a.Outside == "" && isBinding(key.From)
		if a.Absent() || subject {
			arcs[key.To] = append(arcs[key.To], client.Arc{From: key.From, To: key.To, Type: key.Type, Attributes: a})
		}
	}
	var all []problem
	for key, users := range arcs {
		p := problem{
			view: v.String(), object: k.name(key), state: "missing", severity: health.Degraded.Severity(), key: key, kind: k.kind(key),
		}
		target := offline.Key{GroupKind: schema.GroupKind{Group: key.Group, Kind: p.kind}, Namespace: key.Namespace, Name: key.Name}
		if offline.IsPlaceholder(key.Name) || offline.IsPlaceholder(key.Namespace) {
			continue
		}
		for _, arc := range users {
			user := m.Find(arc.From.Group, arc.From.Resource, arc.From.Namespace, arc.From.Name)
			if user == nil {
				continue
			}
			for _, field := range arc.Attributes.Fields {
				field, _ = graph.CutWord(field)
				declared, field := user.Declared(field)
				if declared == nil || m.Allows(declared.File(), target) {
					continue
				}
				if at := (place{declared.Position(field, key.Name), k.name(keyOf(declared)), field}); !slices.Contains(p.places, at) {
					p.places = append(p.places, at)
				}
			}
		}
		if len(p.places) == 0 {
			continue // no manifest refers to it, or all allow it
		}
		p.reason = referrers(p.places) + nearest(m, g, key, p.kind)
		all = append(all, p)
	}
	for _, f := range c.findingsOf(m) {
		if m.Allows(f.Object.File(), f.Object.Key) {
			continue
		}
		key := keyOf(f.Object)
		name := k.name(key)
		all = append(all, problem{
			view: v.String(), object: name, state: stateWrong, reason: f.Message, severity: health.Degraded.Severity(), key: key, kind: f.Object.Key.Kind,
			places: []place{{f.Object.Position(f.Field, f.Value), name, f.Field}},
		})
	}
	for i := range all {
		slices.SortFunc(all[i].places, func(a, b place) int {
			return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
	}
	return all
}

func keyOf(o *offline.Object) client.Key {
	return client.Key{Group: o.Group, Version: o.Kind.Version, Resource: o.Kind.Resource, Namespace: o.Namespace, Name: o.Name}
}

// referrers says which objects refer to a missing one.
func referrers(places []place) string {
	var names []string
	for _, p := range places {
		if !slices.Contains(names, p.object) {
			names = append(names, p.object)
		}
	}
	switch slices.Sort(names); len(names) {
	case 1:
		return "referred to by " + names[0]
	default:
		return fmt.Sprintf("referred to by %s and %d more", names[0], len(names)-1)
	}
}

// nearest says which object of the graph may have been meant.
func nearest(m *offline.Manifests, g *client.Graph, missing client.Key, kind string) string {
	var names []string
	for key := range g.Vertices {
		o := m.Find(key.Group, key.Resource, key.Namespace, key.Name)
		if key.Group == missing.Group && key.Resource == missing.Resource && key.Namespace == missing.Namespace && (o == nil || !o.Made()) {
			names = append(names, key.Name)
		}
	}
	if near := advice.Nearest(missing.Name, names, 1); len(near) > 0 {
		return fmt.Sprintf("; did you mean %s/%s?", kind, near[0])
	}
	return ""
}

// writeManifestProblems prints the problems of manifests, with their places.
func (c *cli) writeManifestProblems(output string, found findings) error {
	switch output {
	case outputSARIF:
		return c.writeSARIF(found)
	case outputJUnit:
		return c.writeJUnit(found)
	}
	if len(found.problems) == 0 {
		if len(found.failures) == 0 {
			fmt.Fprintf(c.Out, "No problems in %s.\n", count(c.local.read().Count(), "object"))
		}
		return nil
	}
	out := tabwriter.NewWriter(c.Out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(out, "OBJECT\tSTATE\tAT\tREASON")
	for i := range found.problems {
		p := &found.problems[i]
		at := "-"
		if len(p.places) > 0 {
			at = p.places[0].String()
		}
		if more := len(p.places) - 1; more > 0 {
			at += fmt.Sprintf(" and %d more", more)
		}
		fmt.Fprintln(out, row(p.object, p.state, at, p.reason))
	}
	_ = out.Flush() // its errors are those of c.Out, to which nothing more can be said
	return nil
}

// sentence is a problem in one line.
func (p *problem) sentence() string {
	if p.state == stateWrong {
		return p.object + " " + p.reason
	}
	return p.object + " is missing: " + p.reason
}

// placesOf are the places of a problem, or an unknown one.
func (p *problem) placesOf() []place {
	if len(p.places) == 0 {
		return []place{{object: p.object}}
	}
	return p.places
}

// writeSARIF writes a result for each reference, as code scanning reads it.
func (c *cli) writeSARIF(found findings) error {
	type object = map[string]any
	results := []object{}
	for i := range found.problems {
		p := &found.problems[i]
		for _, at := range p.placesOf() {
			result := object{"ruleId": p.state, "level": "error", "message": object{"text": p.sentence()}}
			if at.File != "" {
				result["locations"] = []object{{"physicalLocation": object{
					"artifactLocation": object{"uri": filepath.ToSlash(at.File)},
					"region":           object{"startLine": max(at.Line, 1), "startColumn": max(at.Column, 1)},
				}}}
			}
			results = append(results, result)
		}
	}
	rule := func(id, text string) object { return object{"id": id, "shortDescription": object{"text": text}} }
	out := json.NewEncoder(c.Out)
	out.SetIndent("", "  ")
	err := out.Encode(object{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []object{{
			"tool": object{"driver": object{"name": "graphview", "informationUri": "https://graphview.dev", "rules": []object{
				rule("missing", "an object is referred to, and no manifest has it"), rule(stateWrong, "a reference leads to an object that lacks what it refers to"),
			}}},
			"results": results,
		}},
	})
	if err != nil {
		return fmt.Errorf("write the problems: %w", err)
	}
	return nil
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	File    string        `xml:"file,attr,omitempty"`
	Failure *junitFailure `xml:"failure"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// writeJUnit writes a failed test for each problem, or a single passed test.
func (c *cli) writeJUnit(found findings) error {
	suite := struct {
		XMLName  xml.Name    `xml:"testsuite"`
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Cases    []junitCase `xml:"testcase"`
	}{Name: "graphview", Tests: max(len(found.problems), 1), Failures: len(found.problems)}
	for i := range found.problems {
		p := &found.problems[i]
		of := junitCase{Name: p.object, Class: p.state, File: p.placesOf()[0].File, Failure: &junitFailure{Message: p.sentence()}}
		for _, at := range p.placesOf() {
			of.Failure.Text += fmt.Sprintf("%s: %s %s\n", at, at.object, at.field)
		}
		suite.Cases = append(suite.Cases, of)
	}
	if len(suite.Cases) == 0 {
		suite.Cases = []junitCase{{Name: "references", Class: "missing"}}
	}
	text, err := xml.MarshalIndent(suite, "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(c.Out, "%s%s\n", xml.Header, text)
	}
	if err != nil {
		return fmt.Errorf("write the problems: %w", err)
	}
	return nil
}

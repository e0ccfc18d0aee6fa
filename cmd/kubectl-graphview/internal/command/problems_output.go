package command

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"graphview.dev/client"
	"graphview.dev/graphview/printable"
)

var problemOutputs = []string{outputTable, outputWide, outputName, outputJSON, outputYAML}

// findings are the result of a search for problems.
type findings struct {
	graphs   int
	problems []problem
	warnings []client.Warning
	failures []error
	at       time.Time // of the graphs, zero for now
}

// problemReport is the output of -o json.
type problemReport struct {
	// Complete: every graph was complete, except for the resources that are left out.
	Complete bool            `json:"complete"`
	Problems []problemObject `json:"problems"`
	LeftOut  []leftOutKind   `json:"leftOut,omitempty"`
	Errors   []string        `json:"errors,omitempty"`
}

type problemObject struct {
	Cluster   string     `json:"cluster,omitempty"`
	View      string     `json:"view"`
	Group     string     `json:"group,omitempty"`
	Version   string     `json:"version,omitempty"`
	Resource  string     `json:"resource,omitempty"`
	Kind      string     `json:"kind,omitempty"`
	Namespace string     `json:"namespace,omitempty"`
	Name      string     `json:"name,omitempty"`
	State     string     `json:"state"`
	Reason    string     `json:"reason,omitempty"`
	Since     *time.Time `json:"since,omitempty"`
	// Before is the act before the problem.
	Before *client.Change `json:"before,omitempty"`
	// Stops are the problems that follow from this one.
	Stops []problemObject `json:"stops,omitempty"`
	// References are those of manifests.
	References []problemReference `json:"references,omitempty"`
}

type problemReference struct {
	Object string `json:"object"`
	Field  string `json:"field,omitempty"`
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

type leftOutKind struct {
	Type      string `json:"type"`
	Group     string `json:"group,omitempty"`
	Resource  string `json:"resource,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Message   string `json:"message,omitempty"`
}

// writeProblems prints a sorted result.
func (c *cli) writeProblems(output string, found findings) error {
	switch {
	case output == outputJSON || output == outputYAML:
		return c.writeProblemReport(output, found)
	case output == outputName:
		var all []object
		for i := range found.problems {
			if p := &found.problems[i]; p.kind != "" {
				all = append(all, object{Kind: p.kind, Group: p.key.Group, Name: p.key.Name})
			}
		}
		c.writeNames(all)
		return nil
	case c.local.read() != nil:
		return c.writeManifestProblems(output, found)
	case len(found.problems) == 0:
		if len(found.failures) == 0 {
			fmt.Fprintf(c.Out, "No problems in %s.\n", count(found.graphs, "graph"))
		}
		return nil
	}
	header := []string{"OBJECT", "STATE", "SINCE", "REASON"}
	if found.graphs > 1 {
		header = slices.Insert(header, 0, "VIEW")
	}
	if c.allLinks {
		header = slices.Insert(header, 0, "CLUSTER")
	}
	var rows strings.Builder
	out := tabwriter.NewWriter(&rows, 0, 0, 3, ' ', 0)
	fmt.Fprintln(out, strings.Join(header, "\t"))
	now := found.at
	if now.IsZero() {
		now = time.Now()
	}
	write := func(p *problem, indent string) {
		since := "-"
		if p.since != 0 {
			since = duration.HumanDuration(max(0, now.Sub(time.Unix(p.since, 0)))) // a pod ends in the future
		}
		cells := []string{indent + p.object, p.state, since, p.reason}
		if found.graphs > 1 {
			cells = slices.Insert(cells, 0, p.view)
		}
		if c.allLinks {
			cells = slices.Insert(cells, 0, p.cluster)
		}
		fmt.Fprintln(out, row(cells...))
	}
	for i := range found.problems {
		p := &found.problems[i]
		write(p, "")
		for j := range p.stops {
			if output == outputWide {
				write(&p.stops[j], "  ")
			}
		}
	}
	_ = out.Flush() // writing to a text in memory has no error
	lines := strings.SplitAfter(rows.String(), "\n")
	next := 1 // the line of the next problem, after the header
	fmt.Fprint(c.Out, lines[0])
	for i := range found.problems {
		p := &found.problems[i]
		fmt.Fprint(c.Out, lines[next])
		next++
		if p.before != nil {
			fmt.Fprintf(c.Out, "  after %s\n", c.beforeText(p))
		}
		switch {
		case output == outputWide:
			fmt.Fprint(c.Out, strings.Join(lines[next:next+len(p.stops)], ""))
			next += len(p.stops)
		case len(p.stops) > 0:
			fmt.Fprintf(c.Out, "  %s\n", printable.Text(p.follows()))
		}
	}
	return nil
}

func (c *cli) writeProblemReport(output string, found findings) error {
	report := problemReport{Complete: len(found.failures) == 0, Problems: []problemObject{}}
	for i := range found.problems {
		report.Problems = append(report.Problems, found.problems[i].report())
	}
	for _, w := range found.warnings {
		key := w.Key()
		report.LeftOut = append(report.LeftOut, leftOutKind{Type: w.Type, Group: key.Group, Resource: key.Resource, Namespace: key.Namespace, Message: w.Message})
	}
	for _, err := range found.failures {
		report.Errors = append(report.Errors, err.Error())
	}
	return c.writeObject(output, report)
}

// report is the problem in -o json and yaml.
func (p *problem) report() problemObject {
	o := problemObject{
		Cluster: p.cluster, View: p.view, Group: p.key.Group, Version: p.key.Version, Resource: p.key.Resource, Kind: p.kind, Namespace: p.key.Namespace, Name: p.key.Name,
		State: p.state, Reason: strings.TrimPrefix(p.reason, "-"),
	}
	if p.since != 0 {
		since := time.Unix(p.since, 0).UTC()
		o.Since = &since
	}
	o.Before = p.before
	for _, at := range p.places {
		o.References = append(o.References, problemReference{at.object, at.field, at.File, at.Line, at.Column})
	}
	for i := range p.stops {
		o.Stops = append(o.Stops, p.stops[i].report())
	}
	return o
}

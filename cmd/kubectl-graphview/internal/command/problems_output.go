package command

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"graphview.dev/client"
)

var problemOutputs = []string{outputTable, outputJSON}

// findings are the result of a search for problems.
type findings struct {
	graphs   int
	problems []problem
	warnings []client.Warning
	failures []error
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
	if output == outputJSON {
		return c.writeProblemReport(found)
	}
	if c.local.read() != nil {
		return c.writeManifestProblems(output, found)
	}
	if len(found.problems) == 0 {
		if len(found.failures) == 0 {
			fmt.Fprintf(c.Out, "No problems in %s.\n", count(found.graphs, "graph"))
		}
		return nil
	}
	out := tabwriter.NewWriter(c.Out, 0, 0, 3, ' ', 0)
	header := []string{"VIEW", "OBJECT", "STATE", "SINCE", "REASON"}
	if c.allLinks {
		header = slices.Insert(header, 0, "CLUSTER")
	}
	fmt.Fprintln(out, strings.Join(header, "\t"))
	for i := range found.problems {
		p, since := &found.problems[i], "-"
		if p.since != 0 {
			since = duration.HumanDuration(time.Since(time.Unix(p.since, 0)))
		}
		cells := []string{p.view, p.object, p.state, since, p.reason}
		if c.allLinks {
			cells = slices.Insert(cells, 0, p.cluster)
		}
		fmt.Fprintln(out, row(cells...))
	}
	_ = out.Flush() // its errors are those of c.Out, to which nothing more can be said
	return nil
}

func (c *cli) writeProblemReport(found findings) error {
	report := problemReport{Complete: len(found.failures) == 0, Problems: []problemObject{}}
	for i := range found.problems {
		p := &found.problems[i]
		o := problemObject{
			Cluster: p.cluster, View: p.view, Group: p.key.Group, Version: p.key.Version, Resource: p.key.Resource, Kind: p.kind, Namespace: p.key.Namespace, Name: p.key.Name,
			State: p.state, Reason: strings.TrimPrefix(p.reason, "-"),
		}
		if p.since != 0 {
			since := time.Unix(p.since, 0).UTC()
			o.Since = &since
		}
		for _, at := range p.places {
			o.References = append(o.References, problemReference{at.object, at.field, at.File, at.Line, at.Column})
		}
		report.Problems = append(report.Problems, o)
	}
	for _, w := range found.warnings {
		key := w.Key()
		report.LeftOut = append(report.LeftOut, leftOutKind{Type: w.Type, Group: key.Group, Resource: key.Resource, Namespace: key.Namespace, Message: w.Message})
	}
	for _, err := range found.failures {
		report.Errors = append(report.Errors, err.Error())
	}
	out := json.NewEncoder(c.Out)
	out.SetIndent("", "  ")
	if err := out.Encode(report); err != nil {
		return fmt.Errorf("write the problems: %w", err)
	}
	return nil
}

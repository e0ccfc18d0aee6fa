package main

import (
	"fmt"
	"strings"
	"time"

	"graphview.dev/test/document"
)

// report is all that the table is made of.
type report struct {
	machine machine
	options options
	bytes   float64 // of the API server's lists
	graph   string  // what the oracle said about the end, "" if it was not asked
	lines   []line
	took    time.Duration
}

// render returns the table as Markdown, which is legible in a terminal too.
func (r *report) render() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s. %s. It took %s.\n\n", time.Now().UTC().Format(time.DateOnly), r.machine, r.load(), r.took.Round(time.Minute))
	cells := [][]string{header}
	for i := range r.lines {
		cells = append(cells, r.lines[i].cells())
	}
	return b.String() + document.Table(cells)
}

func (r *report) load() string {
	text := fmt.Sprintf("%d objects (%s)", r.options.shape.objects(), r.options.shape)
	if r.bytes > 0 {
		text += fmt.Sprintf(", %.0f MB of JSON in the API server's lists", r.bytes/1e6)
	}
	if r.graph != "" {
		text += "; " + r.graph
	}
	return text
}

// The markers around the table in the document.
const (
	tableBegins = "<!-- bench:start -->"
	tableEnds   = "<!-- bench:end -->"
)

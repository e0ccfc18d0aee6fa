package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"graphview.dev/test/oracle"
)

// report is all that the table is made of.
type report struct {
	machine machine
	options options
	results *results
	graph   oracle.Graph
}

// row is one line of the table: one measure of everybody that has it.
type row struct {
	what, goal                       string
	ours, floor, informers, stripped spread
	format                           func(float64) string
}

// render returns the table as Markdown, which is legible in a terminal too.
func render(r *report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s. %s.\n", time.Now().UTC().Format(time.DateOnly), r.machine, r.load())
	fmt.Fprintf(&b, "Medians of %d, in brackets the lowest and highest.\n\n", r.options.runs)
	cells := [][]string{{"what", "goal", "ours", "floor", "dynamic informers", "the same without managedFields", "ours ÷ floor", "ours ÷ informers"}}
	for _, row := range r.rows() {
		cells = append(cells, row.cells())
	}
	writeTable(&b, cells)
	return b.String()
}

func (r *report) load() string {
	bytes := spreadOf(r.results.others["floor"], func(s *sample) float64 { return float64(s.Bytes) })
	return fmt.Sprintf("%d objects (%s): %.0f MB of JSON in the API server's lists, %d vertices and %d arcs, as the oracle has them",
		r.options.shape.objects(), r.options.shape, bytes.median/1e6, len(r.graph.Vertices), len(r.graph.Arcs))
}

func (r *report) rows() []row {
	of := func(name string, value func(*sample) float64) spread { return spreadOf(r.results.others[name], value) }
	manager := func(value func(*sample) float64) spread { return spreadOf(r.results.manager, value) }
	none := spreadOf(nil, nil)
	line := func(what, goal string, ours spread, value func(*sample) float64, format func(float64) string) row {
		return row{what, goal, ours, none, of("informers", value), of("stripped", value), format}
	}
	duration := func(s *sample) float64 { return s.Seconds }
	resident := func(s *sample) float64 { return float64(s.Resident) }
	peak := func(s *sample) float64 { return float64(s.Peak) }
	collected := func(s *sample) float64 { return float64(s.Collected) }
	over := func(s *sample) float64 { return float64(s.Peak) / float64(s.Collected) }
	processor := func(s *sample) float64 { return s.Processor }
	heap := func(s *sample) float64 { return float64(s.Heap) / float64(s.Objects) }

	engine := line("cold start to synced, the engine alone", "≤ 1.3 × floor, ≤ 1/5 of informers", of("engine", duration), duration, seconds)
	engine.floor = of("floor", duration)
	zipped := engine
	zipped.what, zipped.goal, zipped.floor = "the same beside a floor that asks for gzip, as all others do", "", of("gzip", duration)
	used := line("processor time until then, the engine alone", "", of("engine", processor), processor, seconds)
	used.floor = of("floor", processor)
	created := line("view created to `synced` at a WebSocket subscriber", "", manager(duration), duration, seconds)
	created.floor = of("floor", duration)
	return []row{
		engine, zipped, used, created,
		{"processor time until then, bin/manager", "", manager(processor), none, none, none, seconds},
		{"view created to Ready", "", manager(func(s *sample) float64 { return s.Ready }), none, none, none, seconds},
		line("heap per object, the engine alone", "≤ 1.6 KB at 100,000; ≤ 1/15 of informers", of("engine", heap), heap, kilobytes),
		line("resident, bin/manager", "≤ 250 MB at 100,000", manager(resident), resident, megabytes),
		{"of that before there was a view", "", manager(func(s *sample) float64 { return float64(s.Idle) }), none, none, none, megabytes},
		line("resident, the engine alone", "", of("engine", resident), resident, megabytes),
		line("of that once garbage is collected and given back", "", of("engine", collected), collected, megabytes),
		line("most resident ÷ that, the engine alone", "≤ 1.5", of("engine", over), over, plain),
		line("most resident, bin/manager", "", manager(peak), peak, megabytes),
	}
}

func (r *row) cells() []string {
	return []string{
		r.what, r.goal, r.cell(r.ours), r.cell(r.floor), r.cell(r.informers), r.cell(r.stripped),
		ratio(r.ours, r.floor), ratio(r.ours, r.informers),
	}
}

func (r *row) cell(s spread) string {
	low, median, high := r.format(s.low), r.format(s.median), r.format(s.high)
	switch {
	case math.IsNaN(s.median):
		return ""
	case low == high:
		return median
	default:
		return fmt.Sprintf("%s (%s to %s)", median, low, high)
	}
}

func ratio(a, b spread) string {
	if math.IsNaN(a.median) || math.IsNaN(b.median) || b.median == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", a.median/b.median)
}

func seconds(v float64) string   { return fmt.Sprintf("%.2f s", v) }
func kilobytes(v float64) string { return fmt.Sprintf("%.2f KB", v/1e3) }
func megabytes(v float64) string { return fmt.Sprintf("%.0f MB", v/1e6) }
func plain(v float64) string     { return fmt.Sprintf("%.2f", v) }

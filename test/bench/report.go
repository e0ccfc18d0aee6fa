package main

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"k8s.io/client-go/discovery"

	"graphview.dev/test/document"
	"graphview.dev/test/env"
	"graphview.dev/test/must"
)

// report has the contents of the table.
type report struct {
	machine string
	options options
	bytes   float64 // of the API server's lists
	graph   string  // the result of the comparison with the oracle; empty: it was not made
	lines   []line
	took    time.Duration
}

// describe returns the properties of the machine and the cluster that the numbers depend on.
func describe(plane *env.ControlPlane) string {
	version := must.Get(must.Get(discovery.NewDiscoveryClientForConfig(plane.Config())).ServerVersion())
	proc := must.Get(procfs.NewDefaultFS())
	processor, memory := runtime.GOARCH, uint64(0)
	if processors := must.Get(proc.CPUInfo()); len(processors) > 0 && processors[0].ModelName != "" {
		processor = processors[0].ModelName
	}
	if total := must.Get(proc.Meminfo()).MemTotalBytes; total != nil {
		memory = *total
	}
	return fmt.Sprintf("%d cores (%s), %.0f GB of memory, %s, Kubernetes %s",
		runtime.NumCPU(), processor, float64(memory)/1e9, runtime.Version(), version.GitVersion)
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

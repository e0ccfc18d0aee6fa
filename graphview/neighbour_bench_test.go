package graphview

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/spec"
	"graphview.dev/test/configmaps"
	"graphview.dev/test/patience"
)

// BenchmarkNeighbourOfACostlyView measures how long a change takes from the API server
// to a view's graph, alone and then while another view of the same watch evaluates an
// expression of nearly a million units for each of 5,000 objects.
func BenchmarkNeighbourOfACostlyView(b *testing.B) {
	changed := make(chan string)
	e := startEngine(b, Options{Config: configmaps.ServeChanges(b, 5_000, changed), Budget: 1 << 50})
	fast := follow(b, e, yes)
	patience.Await(b, "the list", func() bool { return fast.vertices() == 5_000 })
	next := 0
	measure := func(name string) {
		took := make([]time.Duration, 0, b.N)
		for range b.N {
			next++
			head := fast.view.lens.Head()
			began := time.Now()
			changed <- fmt.Sprint("n", next)
			<-fast.view.lens.Changed(head)
			took = append(took, time.Since(began))
			time.Sleep(5 * time.Millisecond) // as changes come
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, name+"-p50-ms")
		b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, name+"-p99-ms")
	}
	measure("alone")
	program, err := expr.CompileObject(b.Context(), nil, "["+strings.TrimSuffix(strings.Repeat("1,", 900), ",")+"].map(i,[i,i,i,i,i,i]).map(i,i.map(j,j+1)).all(i,i.all(j,j>0))")
	if err != nil {
		b.Fatal(err)
	}
	followBy(b, e, &spec.QueryProgram{Object: program})
	before, began := e.processors.Cost.Load(), time.Now()
	measure("beside")
	b.ReportMetric(float64(e.processors.Cost.Load()-before)/time.Since(began).Seconds()/1e6, "Munits/s")
}

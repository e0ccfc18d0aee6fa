package writer

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"graphview.dev/graphview/graph"
)

// metrics are the metrics of a Writer.
type metrics struct {
	revisions prometheus.Counter
	// took and held are how long a revision took, and how long the graph was locked for writing.
	took, held prometheus.Histogram
	queued     prometheus.GaugeFunc
}

// observe makes the metrics of a writer of a graph.
func (w *Writer) observe(g *graph.Graph) {
	w.metrics = metrics{
		revisions: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "graphview_revisions_total", Help: "Revisions of the graph. One revision can contain many events.",
		}),
		took: newHistogram("revision_seconds", "How long one revision of the graph took. Events wait meanwhile, and readers of graphs that it changes as a whole."),
		held: newHistogram("write_lock_seconds", "How long the write lock of the graph was held, each time. Readers of all graphs wait meanwhile."),
		queued: prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "graphview_queued_events", Help: "Events that wait to be applied to the graph.",
		}, func() float64 { return float64(w.Queued()) }),
	}
	var locked time.Time
	g.ObserveLock(func() { locked = time.Now() }, func() { w.metrics.held.Observe(time.Since(locked).Seconds()) })
}

func newHistogram(name, help string) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "graphview_" + name,
		Help:    help,
		Buckets: []float64{.0001, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1},
	})
}

func (m *metrics) all() []prometheus.Collector {
	return []prometheus.Collector{m.revisions, m.took, m.held, m.queued}
}

// Describe implements prometheus.Collector.
func (w *Writer) Describe(out chan<- *prometheus.Desc) {
	for _, m := range w.metrics.all() {
		m.Describe(out)
	}
}

// Collect implements prometheus.Collector.
func (w *Writer) Collect(out chan<- prometheus.Metric) {
	for _, m := range w.metrics.all() {
		m.Collect(out)
	}
}

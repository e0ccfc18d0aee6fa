package placement

import "github.com/prometheus/client_golang/prometheus"

// metrics are about the sharing of views. No label has the name of a view or a replica.
type metrics struct {
	table                      *Table
	members, held              *prometheus.Desc
	relays                     *prometheus.GaugeVec
	suspected, reopened, moved prometheus.Counter
	channels                   *prometheus.Desc
}

func newMetrics(t *Table) *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "graphview_" + name, Help: help})
	}
	return &metrics{
		table:   t,
		members: prometheus.NewDesc("graphview_replicas", "Replicas that share views, as far as this one knows, with itself.", nil, nil),
		held: prometheus.NewDesc("graphview_views_held",
			"Views that this replica holds, by why: owner, or asked where it is none.", []string{"why"}, nil),
		relays: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "graphview_relays",
			Help: "Views that are read through a relay, by role: edge, from another replica, or holder, by another replica.",
		}, []string{"role"}),
		suspected: counter("replicas_suspected_total", "How often another replica could not be reached and was passed over for a while."),
		reopened:  counter("relays_reopened_total", "Streams that began anew because the replica that they were read from was lost, or the view moved to another one."),
		moved:     counter("relays_moved_total", "Relays that ended because another replica is to hold the view and has its graph."),
		channels: prometheus.NewDesc("graphview_relay_channels",
			"Subscribers at this replica that read a view from another one.", nil, nil),
	}
}

// Opened counts relays in one role.
func (t *Table) Opened(role string) func(int) {
	gauge := t.metrics.relays.WithLabelValues(role)
	return func(n int) { gauge.Add(float64(n)) }
}

// Register adds the metrics.
func (t *Table) Register(r prometheus.Registerer) error { return r.Register(t.metrics) }

// Describe implements prometheus.Collector.
func (m *metrics) Describe(out chan<- *prometheus.Desc) {
	out <- m.members
	out <- m.held
	m.relays.Describe(out)
	m.suspected.Describe(out)
	m.reopened.Describe(out)
	m.moved.Describe(out)
	out <- m.channels
}

// Collect implements prometheus.Collector.
func (m *metrics) Collect(out chan<- prometheus.Metric) {
	t := m.table
	t.mu.Lock()
	owner, asked := 0, 0
	for _, e := range t.entries {
		switch {
		case !e.applied || e.spec == nil:
		case e.owned:
			owner++
		default:
			asked++
		}
	}
	t.mu.Unlock()
	out <- prometheus.MustNewConstMetric(m.members, prometheus.GaugeValue, float64(len(t.o.Members.Live())))
	out <- prometheus.MustNewConstMetric(m.held, prometheus.GaugeValue, float64(owner), "owner")
	out <- prometheus.MustNewConstMetric(m.held, prometheus.GaugeValue, float64(asked), "asked")
	m.relays.Collect(out)
	m.suspected.Collect(out)
	m.reopened.Collect(out)
	m.moved.Collect(out)
	out <- prometheus.MustNewConstMetric(m.channels, prometheus.GaugeValue, float64(t.relays.Channels()))
}

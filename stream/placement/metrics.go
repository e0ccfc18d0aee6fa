package placement

import "github.com/prometheus/client_golang/prometheus"

// metrics are about the sharing of views. No label has the name of a view or a replica.
type metrics struct {
	served                     prometheus.Gauge // relays of other replicas
	suspected, reopened, moved prometheus.Counter
	read                       []prometheus.Collector // of the table when they are collected
}

func newMetrics(t *Table) *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "graphview_" + name, Help: help})
	}
	gauge := func(name, help string, labels prometheus.Labels, value func() int) prometheus.GaugeFunc {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "graphview_" + name, Help: help, ConstLabels: labels}, func() float64 { return float64(value()) })
	}
	relays := func(role string) prometheus.GaugeOpts {
		return prometheus.GaugeOpts{
			Name: "graphview_relays", ConstLabels: prometheus.Labels{"role": role},
			Help: "Views that are read through a relay, by role: edge, from another replica, or holder, by another replica.",
		}
	}
	held := func(why string, owned bool) prometheus.GaugeFunc {
		return gauge("views_held", "Views that this replica holds, by why: owner, or asked where it is none.", prometheus.Labels{"why": why}, func() int { return t.held(owned) })
	}
	return &metrics{
		served:    prometheus.NewGauge(relays("holder")),
		suspected: counter("replicas_suspected_total", "How often another replica could not be reached and was passed over for a while."),
		reopened:  counter("relays_reopened_total", "Streams that began anew because the replica that they were read from was lost, or the view moved to another one."),
		moved:     counter("relays_moved_total", "Relays that ended because another replica is to hold the view and has its graph."),
		read: []prometheus.Collector{
			gauge("replicas", "Replicas that share views, as far as this one knows, with itself.", nil, func() int { return len(t.o.Members.Live()) }),
			gauge("relay_channels", "Subscribers at this replica that read a view from another one.", nil, func() int { return int(t.relays.Channels()) }),
			held("owner", true), held("asked", false),
			prometheus.NewGaugeFunc(relays("edge"), func() float64 { return float64(t.relays.Relays()) }),
		},
	}
}

// Served counts relays of other replicas to this one.
func (t *Table) Served(n int) { t.metrics.served.Add(float64(n)) }

// Register adds the metrics.
func (t *Table) Register(r prometheus.Registerer) error {
	m := t.metrics
	for _, c := range append([]prometheus.Collector{m.served, m.suspected, m.reopened, m.moved}, m.read...) {
		if err := r.Register(c); err != nil {
			return err
		}
	}
	return nil
}

// held returns the number of views that the engine has, as their owner or not.
func (t *Table) held(owned bool) (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.entries {
		if e.applied && e.spec != nil && e.owned == owned {
			n++
		}
	}
	return n
}

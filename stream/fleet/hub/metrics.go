package hub

import "github.com/prometheus/client_golang/prometheus"

// metrics have no label for a link: a fleet may have thousands.
type metrics struct {
	tunnels prometheus.Gauge
	waits   prometheus.Gauge
	refused *prometheus.CounterVec
}

func newMetrics() *metrics {
	return &metrics{
		tunnels: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "graphview_tunnels", Help: "Tunnels of members to this replica of the hub.",
		}),
		waits: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "graphview_cluster_waits", Help: "Requests that wait for a route to a cluster of the fleet.",
		}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "graphview_tunnel_refused_total", Help: "Tunnels that were refused, by reason.",
		}, []string{"reason"}),
	}
}

// Register registers the metrics.
func (h *Hub) Register(with prometheus.Registerer) error {
	for _, c := range []prometheus.Collector{h.metrics.tunnels, h.metrics.waits, h.metrics.refused} {
		if err := with.Register(c); err != nil {
			return err
		}
	}
	return nil
}

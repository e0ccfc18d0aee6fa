package stream

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics say what deciding about subscribers costs.
type metrics struct {
	reviews  *prometheus.CounterVec
	interval prometheus.Gauge
}

func newMetrics(registerer prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		reviews: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "graphview_subject_access_reviews_total",
			Help: "SubjectAccessReviews made to decide what subscribers may see, by result: allowed, denied or error.",
		}, []string{"result"}),
		interval: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "graphview_permission_recheck_interval_seconds",
			Help: "Time between the last two checks of the permissions that were checked again last. Longer than --permission-recheck: overload.",
		}),
	}
	if registerer == nil {
		return m, nil
	}
	for _, collector := range []prometheus.Collector{m.reviews, m.interval} {
		if err := registerer.Register(collector); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *metrics) reviewed(allowed bool, err error) {
	result := "denied"
	switch {
	case err != nil:
		result = "error"
	case allowed:
		result = "allowed"
	}
	m.reviews.WithLabelValues(result).Inc()
}

func (m *metrics) rechecked(after time.Duration) { m.interval.Set(after.Seconds()) }

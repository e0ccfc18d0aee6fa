package controllers

import "github.com/prometheus/client_golang/prometheus"

// reviewsTotal counts the access reviews of a Permit.
func reviewsTotal() *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "graphview_service_account_reviews_total",
		Help: "SubjectAccessReviews that decide what views with a serviceAccountName may contain, by result: allowed, denied or error.",
	}, []string{"result"})
	for _, result := range []string{"allowed", "denied", "error"} {
		c.WithLabelValues(result)
	}
	return c
}

// resultOf returns the label of an answer.
func resultOf(allowed bool, err error) string {
	switch {
	case err != nil:
		return "error"
	case allowed:
		return "allowed"
	default:
		return "denied"
	}
}

// Describe implements prometheus.Collector.
func (p *Permit) Describe(out chan<- *prometheus.Desc) { p.asked.Describe(out) }

// Collect implements prometheus.Collector.
func (p *Permit) Collect(out chan<- prometheus.Metric) { p.asked.Collect(out) }

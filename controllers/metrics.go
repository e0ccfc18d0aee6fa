package controllers

import (
	"github.com/prometheus/client_golang/prometheus"
)

// reviewsTotal counts what a Permit asks.
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

// resultOf is the label for an answer.
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

var expiryDesc = prometheus.NewDesc("graphview_certificate_expiry_timestamp_seconds",
	"When the operator's own certificate expires, in seconds since 1970.", nil, nil)

// Describe implements prometheus.Collector.
func (*Certificates) Describe(out chan<- *prometheus.Desc) { out <- expiryDesc }

// Collect implements prometheus.Collector: there is nothing to tell before a
// certificate is served.
func (c *Certificates) Collect(out chan<- prometheus.Metric) {
	if serving := c.serving.Load(); serving != nil && serving.Leaf != nil {
		out <- prometheus.MustNewConstMetric(expiryDesc, prometheus.GaugeValue, float64(serving.Leaf.NotAfter.Unix()))
	}
}

// Describe implements prometheus.Collector.
func (p *Permit) Describe(out chan<- *prometheus.Desc) { p.asked.Describe(out) }

// Collect implements prometheus.Collector.
func (p *Permit) Collect(out chan<- prometheus.Metric) { p.asked.Collect(out) }

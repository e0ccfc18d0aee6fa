package pki

import "github.com/prometheus/client_golang/prometheus"

var expiryDesc = prometheus.NewDesc("graphview_certificate_expiry_timestamp_seconds",
	"When the operator's own certificate expires, in seconds since 1970.", nil, nil)

// Describe implements prometheus.Collector.
func (*Certificates) Describe(out chan<- *prometheus.Desc) { out <- expiryDesc }

// Collect implements prometheus.Collector. There is no value before a certificate is
// served.
func (c *Certificates) Collect(out chan<- prometheus.Metric) {
	if serving := c.serving.Load(); serving != nil && serving.Leaf != nil {
		out <- prometheus.MustNewConstMetric(expiryDesc, prometheus.GaugeValue, float64(serving.Leaf.NotAfter.Unix()))
	}
}

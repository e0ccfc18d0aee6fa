package main

import (
	"crypto/tls"

	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// metricsOptions are without authentication unless it is asked for: then with the
// certificate of the graphs, and for whom the API server says may get /metrics.
func metricsOptions(o *options, c certificates) metricsserver.Options {
	out := metricsserver.Options{BindAddress: o.metricsAddress}
	if !o.metricsAuth {
		return out
	}
	out.SecureServing, out.FilterProvider = true, filters.WithAuthenticationAndAuthorization
	out.TLSOpts = append(out.TLSOpts, func(config *tls.Config) { config.GetCertificate = c.get })
	return out
}

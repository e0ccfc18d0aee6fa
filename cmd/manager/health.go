package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"graphview.dev/controllers"
	"graphview.dev/controllers/pki"
	"graphview.dev/graphview"
)

// aliveWithin is the time in which the graph must begin to apply an event. Its
// longest step takes milliseconds; a kubelet probes three times before it restarts the container.
const aliveWithin = 10 * time.Second

var (
	errUnknown  = errors.New("not every GraphView and ClusterLink is known yet")
	errStopping = errors.New("the operator is stopping")
)

// newProbes returns the checks of /healthz, which fails if the graph makes no progress, and of /readyz,
// which succeeds while every GraphView and ClusterLink is known and ctx is not done. Views that are still syncing do
// not delay it.
func newProbes(ctx context.Context, engine *graphview.Engine, known ...<-chan struct{}) probes {
	live := func(r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), aliveWithin)
		defer cancel()
		return engine.Alive(ctx)
	}
	ready := func(*http.Request) error {
		if ctx.Err() != nil {
			return errStopping
		}
		for _, all := range known {
			select {
			case <-all:
			default:
				return errUnknown
			}
		}
		return nil
	}
	return probes{map[string]healthz.Checker{"graph": live}, map[string]healthz.Checker{"graphviews": ready}}
}

// registerMetrics registers the metrics that the engine and the stream server do not register.
// kept is nil if the operator does not renew its certificate, and election for the only replica.
func registerMetrics(guard *controllers.WebhookGuard, kept *pki.Certificates, election *controllers.Election) error {
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name:        "graphview_build_info",
		Help:        "1, labelled with the operator's version and that of Go.",
		ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version()},
	})
	build.Set(1)
	writer := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "graphview_status_writer",
		Help: "1 on the replica that writes the status of GraphViews, ReferenceRules and ClusterLinks, 0 on the others.",
	}, func() float64 {
		if election.Elected() {
			return 1
		}
		return 0
	})
	collectors := []prometheus.Collector{build, guard, writer}
	if kept != nil {
		collectors = append(collectors, kept)
	}
	for _, c := range collectors {
		if err := metrics.Registry.Register(c); err != nil {
			return fmt.Errorf("metrics: %w", err)
		}
	}
	return nil
}

package operator

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	"graphview.dev/test/env"
	"graphview.dev/test/metrics"
	"graphview.dev/test/patience"
)

// Options of an operator. Binary is required.
type Options struct {
	// Binary is the program's path.
	Binary string
	// Name of the log beside the control plane's logs; empty: manager.
	Name string
	// Args come after the arguments of Start, and win over them.
	Args []string
	// Env has variables, as NAME=value, beside those of this process.
	Env []string
}

// Operator is the running program, with its own identity and its own ports.
type Operator struct {
	*Process

	port    int // of the stream
	metrics int
	health  int
}

// Start starts the operator, after Install. The program ends
// with the control plane at the latest.
func Start(plane *env.ControlPlane, o Options) (*Operator, error) {
	kubeconfig, err := writeKubeconfig(plane)
	if err != nil {
		return nil, err
	}
	// Each operator has its own directory: an operator that starts while another one writes
	// its key pair would read halves that do not match.
	certificates, err := os.MkdirTemp(plane.Dir(), "manager-certificates-")
	if err != nil {
		return nil, fmt.Errorf("certificates: %w", err)
	}
	if err := plane.ServingCertificate(certificates, env.ServiceName+"."+env.ServiceNamespace+".svc"); err != nil {
		return nil, err
	}
	ports, err := env.FreePorts(3)
	if err != nil {
		return nil, err
	}
	args := append([]string{
		"--kubeconfig=" + kubeconfig,
		"--stream-cert-dir=" + certificates,
		fmt.Sprintf("--stream-bind-address=127.0.0.1:%d", ports[0]),
		fmt.Sprintf("--metrics-bind-address=127.0.0.1:%d", ports[1]),
		fmt.Sprintf("--health-probe-bind-address=127.0.0.1:%d", ports[2]),
		// Most tests do not depend on the rights behind a view. Others override this in Args.
		"--require-service-account=false",
	}, o.Args...)
	process := &Process{plane: plane, name: cmp.Or(o.Name, logName), binary: o.Binary, env: o.Env, args: args}
	return &Operator{Process: process, port: ports[0], metrics: ports[1], health: ports[2]}, process.Restart()
}

// Deploy installs the manifests of the module at root, starts an operator, and registers it at the API server.
func Deploy(ctx context.Context, plane *env.ControlPlane, root string, o Options) (*Operator, error) {
	if err := Install(ctx, plane, root); err != nil {
		return nil, fmt.Errorf("install: %w", err)
	}
	manager, err := Start(plane, o)
	if err != nil {
		return nil, fmt.Errorf("operator: %w", err)
	}
	if err := manager.Register(ctx); err != nil {
		return nil, fmt.Errorf("operator: %w", err)
	}
	return manager, nil
}

// Register makes the API server proxy the graphs, and returns when it does.
func (o *Operator) Register(ctx context.Context) error {
	return o.plane.RegisterAPIService(ctx, o.port, o.plane.CA())
}

// Port returns the port of the graphs, on loopback.
func (o *Operator) Port() int { return o.port }

// URL returns the address of the graphs on the operator's own port. The control plane's CA
// signed its certificate.
func (o *Operator) URL() string { return fmt.Sprintf("https://localhost:%d", o.port) }

// probe is a client with a timeout, for a suspended operator, and without kept connections.
var probe = &http.Client{Timeout: patience.For(5 * time.Second), Transport: &http.Transport{DisableKeepAlives: true}}

// Metric returns the sum of a metric's series that have some labels, which are names and values in turn.
func (o *Operator) Metric(ctx context.Context, name string, labels ...string) (float64, error) {
	families, err := metrics.Read(ctx, probe, o.MetricsURL())
	if err != nil {
		return 0, err
	}
	return families.Sum(name, labels...)
}

// Ready reports whether the operator is ready, so that a Service would route to it.
func (o *Operator) Ready(ctx context.Context) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/readyz", o.health), http.NoBody)
	if err != nil {
		return false
	}
	response, err := probe.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// MetricsPort returns the port of the metrics, on loopback.
func (o *Operator) MetricsPort() int { return o.metrics }

// HealthPort returns the port of /healthz and /readyz.
func (o *Operator) HealthPort() int { return o.health }

// MetricsURL returns the address of the metrics.
func (o *Operator) MetricsURL() string { return fmt.Sprintf("http://127.0.0.1:%d/metrics", o.metrics) }

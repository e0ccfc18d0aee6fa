package operator

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"graphview.dev/test/env"
)

// logName is what the operator's log is called among the control plane's.
const logName = "manager"

// Options of an operator. Binary is required.
type Options struct {
	// Binary is the program's path.
	Binary string
	// Name is what the log is called among the control plane's; empty: manager.
	Name string
	// Args come after the arguments that Start gives, and win over them.
	Args []string
	// Env are variables, as NAME=value, beside those of this process.
	Env []string
}

// Operator is the running program.
type Operator struct {
	plane   *env.ControlPlane
	name    string
	binary  string
	args    []string
	env     []string
	port    int // of the stream
	metrics int
	process *env.Process
}

// Start starts the operator, which Install has prepared for. The program ends
// with the control plane at the latest.
func Start(plane *env.ControlPlane, o Options) (*Operator, error) {
	kubeconfig, err := writeKubeconfig(plane)
	if err != nil {
		return nil, err
	}
	certificates := filepath.Join(plane.Dir(), "manager-certificates")
	if err := os.MkdirAll(certificates, 0o700); err != nil {
		return nil, fmt.Errorf("certificates: %w", err)
	}
	if err := plane.ServingCertificate(certificates, env.ServiceName+"."+env.ServiceNamespace+".svc"); err != nil {
		return nil, err
	}
	ports, err := env.FreePorts(3)
	if err != nil {
		return nil, err
	}
	operator := &Operator{plane: plane, name: cmp.Or(o.Name, logName), binary: o.Binary, env: o.Env, port: ports[0], metrics: ports[1]}
	operator.args = append([]string{
		"--kubeconfig=" + kubeconfig,
		"--stream-cert-dir=" + certificates,
		fmt.Sprintf("--stream-bind-address=127.0.0.1:%d", ports[0]),
		fmt.Sprintf("--metrics-bind-address=127.0.0.1:%d", ports[1]),
		fmt.Sprintf("--health-probe-bind-address=127.0.0.1:%d", ports[2]),
		// Most callers are not about whose rights feed a view; who is says so in Args.
		"--require-service-account=false",
	}, o.Args...)
	if err := operator.Restart(); err != nil {
		return nil, err
	}
	return operator, nil
}

// Restart starts the operator that Stop or Kill ended, with the same arguments
// on the same ports.
func (o *Operator) Restart() error {
	var err error
	// env becomes the program that it starts.
	o.process, err = o.plane.Run(o.name, "/usr/bin/env", slices.Concat(o.env, []string{o.binary}, o.args)...)
	return err
}

// Register makes the API server serve the graphs too, and returns when it does.
func (o *Operator) Register(ctx context.Context) error {
	return o.plane.RegisterAPIService(ctx, o.port, o.plane.CA())
}

// Stop asks the operator to end, as a kubelet does, and returns its exit code
// when it has; one that has not by the end of the context is killed.
func (o *Operator) Stop(ctx context.Context) int {
	o.process.Terminate(ctx)
	return o.process.ExitCode()
}

// Kill ends the operator as a crash would.
func (o *Operator) Kill() { o.process.Stop() }

// Done is closed when the program has ended.
func (o *Operator) Done() <-chan struct{} { return o.process.Done() }

// Exited is an error once the program has ended, and nil while it runs.
func (o *Operator) Exited() error { return o.process.Exited() }

// PID is the program's. After Restart it is another one.
func (o *Operator) PID() int { return o.process.PID() }

// Port is that of the graphs, on loopback.
func (o *Operator) Port() int { return o.port }

// URL is that of the graphs on the operator's own port. The control plane's CA
// vouches for it.
func (o *Operator) URL() string { return fmt.Sprintf("https://localhost:%d", o.port) }

// MetricsURL is that of the metrics.
func (o *Operator) MetricsURL() string { return fmt.Sprintf("http://127.0.0.1:%d/metrics", o.metrics) }

// LogPath is the file that the operator's output goes to, over restarts.
func (o *Operator) LogPath() string { return filepath.Join(o.plane.Dir(), "logs", o.name+".log") }

// Args are the program's arguments.
func (o *Operator) Args() []string { return o.args }

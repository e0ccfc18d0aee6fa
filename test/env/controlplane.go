package env

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// readyWithin bounds the start of each program: on a busy machine the API server
// has taken more than a minute.
const readyWithin = 3 * time.Minute

// Options of a control plane; the zero value is etcd and kube-apiserver.
type Options struct {
	// ControllerManager asks for kube-controller-manager too: workloads get their
	// pods, namespaces their ServiceAccounts, orphans are collected.
	ControllerManager bool
	// PodGarbageCollector lets kube-controller-manager delete the pods of a node that does not
	// exist, as a cluster does.
	PodGarbageCollector bool
	// Binaries is the directory of the programs. Empty: $GRAPHVIEW_CONTROL_PLANE,
	// else bin/controlplane of this module.
	Binaries string
	// APIServerArgs come after the API server's other arguments and win over them.
	APIServerArgs []string
	// GCPercent is GOGC of the programs: how much garbage they keep, in percent of the memory in use.
	// 0: as much as is in use.
	GCPercent int
	// Audit logs the requests to the API server; see AuditLog.
	Audit bool
	// Log gets a line for each step of starting and stopping. Nil: none.
	Log io.Writer
	// Data is a directory of SaveData: the control plane starts with a copy
	// of it. Empty: it starts without objects.
	Data string
	// Dir is a directory for keys, data and logs. Stop keeps it, and Start does not use data
	// that are in it already. Empty: a temporary directory, which Stop removes.
	Dir string
}

// ControlPlane is a running control plane.
type ControlPlane struct {
	options  Options
	binaries string
	dir      *workDir
	keys     *credentials
	port     int // of the API server, the same after a restart
	etcdPort int
	peerPort int

	etcd, apiServer, controllerManager *Process
	others                             []*Process // in the order of their start
	stopped                            bool
}

// Start starts a control plane and returns when it is ready. The context bounds
// the start alone; Stop ends the programs. After an error no program is left running,
// and the error has the end of the log of the program that failed.
func Start(ctx context.Context, o Options) (*ControlPlane, error) {
	programs := []string{etcd, apiServer, kubectl}
	if o.ControllerManager {
		programs = append(programs, controllerManager)
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	binaries, err := findBinaries(o.Binaries, programs...)
	if err != nil {
		return nil, err
	}
	ports, err := FreePorts(3)
	if err != nil {
		return nil, err
	}
	dir, err := openDir(o.Dir)
	if err != nil {
		return nil, err
	}
	c := &ControlPlane{options: o, binaries: binaries, dir: dir, port: ports[0], etcdPort: ports[1], peerPort: ports[2]}
	if err := c.start(ctx); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

func (c *ControlPlane) start(ctx context.Context) error {
	if err := os.RemoveAll(c.dir.join("etcd")); err != nil {
		return fmt.Errorf("remove old data: %w", err)
	}
	if c.options.Data != "" {
		c.logf("with what was saved in %s", c.options.Data)
		if err := copyData(c.options.Data, c.dir.join("etcd")); err != nil {
			return fmt.Errorf("copy saved data: %w", err)
		}
	}
	var err error
	if c.keys, err = newCredentials(c.dir); err != nil {
		return err
	}
	if err := WriteKubeconfig(c.dir.join("kubeconfig"), c.Config()); err != nil {
		return err
	}
	if c.etcd, err = c.run(etcd, etcdArgs(c.dir, c.etcdPort, c.peerPort)); err != nil {
		return err
	}
	if err := c.StartAPIServer(ctx); err != nil {
		return err
	}
	if !c.options.ControllerManager {
		return nil
	}
	if c.controllerManager, err = c.run(controllerManager, controllerManagerArgs(c.dir, c.options.PodGarbageCollector)); err != nil {
		return err
	}
	return c.controllersReady(ctx)
}

// StartAPIServer starts the API server that StopAPIServer stopped: same address,
// same data. It returns when the server is ready.
func (c *ControlPlane) StartAPIServer(ctx context.Context) error {
	if c.apiServer != nil {
		return errors.New("the API server runs already")
	}
	var err error
	var more []string
	if c.options.Audit {
		if more, err = auditArgs(c.dir); err != nil {
			return err
		}
	}
	c.apiServer, err = c.run(apiServer, apiServerArgs(c.dir, c.port, c.etcdPort, append(more, c.options.APIServerArgs...)))
	if err != nil {
		return err
	}
	return c.apiServerReady(ctx)
}

// StopAPIServer kills the API server, as a crash would; etcd and the controller
// manager keep running.
func (c *ControlPlane) StopAPIServer() {
	c.logf("%s: killed", apiServer)
	c.apiServer.Stop()
	c.apiServer = nil
}

// Stop ends every program and returns when they are gone. A second call does
// nothing.
func (c *ControlPlane) Stop() error {
	if c.stopped {
		return nil
	}
	c.stopped = true
	for _, p := range slices.Backward(c.others) {
		p.Stop()
	}
	c.controllerManager.Stop()
	c.apiServer.Stop()
	c.etcd.Stop()
	c.logf("control plane: stopped")
	return c.dir.close()
}

// Dir returns the directory of keys, data and logs.
func (c *ControlPlane) Dir() string { return c.dir.path }

// Logs returns the last lines of each program's log, for a person to read.
func (c *ControlPlane) Logs() string {
	files, _ := filepath.Glob(c.dir.join("logs", "*.log"))
	var text strings.Builder
	for _, file := range files {
		text.WriteString(tail(file))
	}
	return text.String()
}

// Run starts one more program like those of the control plane: its output goes to a log
// that Logs shows, and it ends with the control plane or with this process.
func (c *ControlPlane) Run(name, path string, args ...string) (*Process, error) {
	c.logf("%s: starting", name)
	p, err := startProcess(name, path, c.dir.join("logs", name+".log"), nil, args)
	if err != nil {
		return nil, err
	}
	c.others = append(c.others, p)
	return p, nil
}

func (c *ControlPlane) run(name string, args []string) (*Process, error) {
	c.logf("%s: starting", name)
	var variables []string
	if c.options.GCPercent != 0 {
		variables = append(variables, "GOGC="+strconv.Itoa(c.options.GCPercent))
	}
	return startProcess(name, filepath.Join(c.binaries, name), c.dir.join("logs", name+".log"), variables, args)
}

func (c *ControlPlane) logf(format string, args ...any) {
	fmt.Fprintf(c.options.Log, format+"\n", args...)
}

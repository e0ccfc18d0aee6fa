package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"graphview.dev/test/env"
	"graphview.dev/test/must"
)

// children are the processes that this program starts of itself, by the
// argument that asks for them.
var children = map[string]func(context.Context, *child){
	"floor":              func(ctx context.Context, c *child) { listAll(ctx, c, true) },
	"gzip":               func(ctx context.Context, c *child) { listAll(ctx, c, false) },
	"engine":             runEngine,
	"summaries":          runEngine,
	"informers":          func(ctx context.Context, c *child) { runInformers(ctx, c, nil) },
	"stripped":           func(ctx context.Context, c *child) { runInformers(ctx, c, withoutManagedFields) },
	"controller-runtime": runControllerRuntime,
	"judged":             func(ctx context.Context, c *child) { runStep(ctx, c, judged) },
	"referred":           func(ctx context.Context, c *child) { runStep(ctx, c, referred) },
	"server":             runServer,
	"crowd":              runCrowd,
	"watch":              runWatch,
	"verify":             runVerify,
}

// task is what a process that measures itself is told, as JSON in its last argument.
type task struct {
	Name            string // in children
	Program         string // empty: this one
	Kubeconfig, Out string // Out: file for the sample
	Settle          time.Duration
	Processors      int           // 0: all
	LastEvent       int           // number of the last to wait for after synced; 0: none
	Certificates    string        // directory with those to serve with
	URL             string        // of an operator
	IdleFor         time.Duration // to be after having settled
	View            string        // name; empty: that of all objects
	Subscribers     int
	Resources       []string // group/kind, for the gitops peer
	Manifests       bool     // which that keeps too
	// Files for profiles: of the cold start, of what is held at the end, and of
	// the time of the events.
	CPUProfile, MemProfile, EventProfile string
}

// child is such a process, and what it found.
type child struct {
	task
	sample

	config  *rest.Config
	started time.Time
	view    lens
}

// synced notes how long it took.
func (c *child) synced() {
	c.Seconds = time.Since(c.started).Seconds()
	c.Processor = processorTime(os.Getpid())
}

// settled waits for what a process does after it synced, and reads its memory as
// anybody outside would find it; then its heap.
func (c *child) settled(ctx context.Context) {
	must.Do(wait(ctx, c.Settle))
	c.readMemory(os.Getpid())
	c.readHeap()
}

// serve is the whole of a child process: it measures and writes its sample to a
// file.
func serve(ctx context.Context, text string) {
	c := &child{started: time.Now(), view: whole}
	must.Do(json.Unmarshal([]byte(text), &c.task))
	if c.View != "" {
		c.view = lens{name: c.View}
	}
	runtime.GOMAXPROCS(c.Processors) // none changes nothing
	c.config = must.Get(clientcmd.BuildConfigFromFlags("", c.Kubeconfig))
	c.config.QPS = -1 // no client-side limit
	children[c.Name](ctx, c)
	must.Do(os.WriteFile(c.Out, must.Get(json.Marshal(c.sample)), 0o600))
}

// child runs a process to its end and returns its sample.
func (b *bench) child(ctx context.Context, t task) sample {
	process, out := startChild(b.plane, t)
	return readSample(ctx, process, out)
}

// startChild starts a program that writes a sample to the file out at its end.
func startChild(plane *env.ControlPlane, t task) (process *env.Process, out string) {
	args := []string{}
	if t.Program == "" {
		t.Program, args = must.Get(os.Executable()), []string{childArgument}
	}
	t.Out = filepath.Join(plane.Dir(), t.Name+".json")
	if t.Kubeconfig == "" {
		t.Kubeconfig = filepath.Join(plane.Dir(), "kubeconfig")
	}
	text := must.Get(json.Marshal(t))
	return must.Get(plane.Run(t.Name, t.Program, append(args, string(text))...)), t.Out
}

// childArgument says that a task follows.
const childArgument = "child"

// readSample waits until a program has ended, and reads its sample.
func readSample(ctx context.Context, process *env.Process, out string) (s sample) {
	select {
	case <-process.Done():
	case <-ctx.Done():
		process.Stop()
		must.Do(context.Cause(ctx))
	}
	text, err := os.ReadFile(out)
	if err != nil {
		must.Do(process.Exited())
	}
	must.Do(os.Remove(out))
	must.Do(json.Unmarshal(text, &s))
	return s
}

// awaitReady waits until a program has written the file that says that it is ready, and
// returns what is in it.
func awaitReady(ctx context.Context, process *env.Process, out string) (text []byte) {
	until(ctx, process, func() (ready bool) {
		var err error
		text, err = os.ReadFile(out + ".ready")
		return err == nil
	})
	must.Do(os.Remove(out + ".ready"))
	return text
}

// sayReady is the other side of awaitReady. Renamed, so that no reader sees half of the file.
func (c *child) sayReady(text []byte) {
	must.Do(os.WriteFile(c.Out+".tmp", text, 0o600))
	must.Do(os.Rename(c.Out+".tmp", c.Out+".ready"))
}

// until waits for something to become true while a process runs.
func until(ctx context.Context, process interface{ Exited() error }, done func() bool) {
	for !done() {
		must.Do(process.Exited())
		must.Do(wait(ctx, patience))
	}
}

// patience is between two looks at what is not there yet.
const patience = 20 * time.Millisecond

// wait returns after a while, or at once with the reason why not.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

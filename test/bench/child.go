package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"graphview.dev/test/env"
	"graphview.dev/test/must"
)

// children are the processes that this program starts of itself, by the name in their task.
var children = map[string]func(context.Context, *child){
	"floor":     func(ctx context.Context, c *child) { listAll(ctx, c, inJSON, true) },
	"gzip":      func(ctx context.Context, c *child) { listAll(ctx, c, inJSON, false) },
	"protobuf":  func(ctx context.Context, c *child) { listAll(ctx, c, inProtobuf, false) },
	"engine":    runEngine,
	"informers": func(ctx context.Context, c *child) { runInformers(ctx, c, nil) },
	"stripped":  func(ctx context.Context, c *child) { runInformers(ctx, c, withoutManagedFields) },
	"judged":    func(ctx context.Context, c *child) { runStep(ctx, c, judged) },
	"referred":  func(ctx context.Context, c *child) { runStep(ctx, c, referred) },
	"views":     func(ctx context.Context, c *child) { runViews(ctx, c, false) },
	"differ":    func(ctx context.Context, c *child) { runViews(ctx, c, true) },
	"watch":     runWatch,
	"verify":    runVerify,
}

// ofEngine are the children that measure the engine of the commit that they are compiled from. The others are floors and
// peers, which another commit may not have.
var ofEngine = []string{"engine", "views", "differ", "judged", "referred"}

// task is the order to a process that measures itself, as JSON in its last argument.
type task struct {
	Name            string // in children
	Program         string // empty: this one
	Kubeconfig, Out string // Out: file for the sample
	Settle          time.Duration
	Processors      int      // 0: all
	LastEvent       int      // number of the last event that the process waits for after synced; 0: none
	URL             string   // of an operator
	Resources       []string // group/kind, for the gitops peer
}

// child is a process that measures itself.
type child struct {
	task
	sample

	config  *rest.Config
	started time.Time
}

// synced records the time and the processor time since the start.
func (c *child) synced() {
	c.Seconds = time.Since(c.started).Seconds()
	c.Processor = processorTime(os.Getpid())
}

// settled waits for the work of a process after it synced, and reads its memory as
// /proc shows it, and its heap.
func (c *child) settled(ctx context.Context) {
	must.Do(wait(ctx, c.Settle))
	c.readMemory(os.Getpid())
	c.readHeap()
}

// serve runs a child process: it measures, and writes its sample to a file.
func serve(ctx context.Context, text string) {
	c := &child{started: time.Now()}
	must.Do(json.Unmarshal([]byte(text), &c.task))
	if c.Name == "busy" {
		spin(ctx)
		return
	}
	runtime.GOMAXPROCS(c.Processors) // 0 changes nothing
	c.config = must.Get(clientcmd.BuildConfigFromFlags("", c.Kubeconfig))
	c.config.QPS = -1 // no client-side limit
	children[c.Name](ctx, c)
	must.Do(os.WriteFile(c.Out, must.Get(json.Marshal(c.sample)), 0o600))
}

// child runs a process to its end and returns its sample.
func (b *bench) child(ctx context.Context, t task) sample {
	process, out := b.startChild(t)
	return readSample(ctx, process, out)
}

// startChild starts a program that writes a sample to the file out at its end.
func (b *bench) startChild(t task) (process *env.Process, out string) {
	args := []string{}
	if t.Program == "" {
		t.Program, args = b.program, []string{childArgument}
		if slices.Contains(ofEngine, t.Name) {
			t.Program = b.engine
		}
	}
	t.Out = filepath.Join(b.plane.Dir(), t.Name+".json")
	if t.Kubeconfig == "" {
		t.Kubeconfig = filepath.Join(b.plane.Dir(), "kubeconfig")
	}
	text := must.Get(json.Marshal(t))
	return must.Get(b.plane.Run(t.Name, t.Program, append(args, string(text))...)), t.Out
}

// childArgument is the argument before a task.
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

// awaitReady waits until a child says that it is ready for events.
func awaitReady(ctx context.Context, process *env.Process, out string) {
	until(ctx, process, func() (ready bool) {
		_, err := os.Stat(out + ".ready")
		return err == nil
	})
	must.Do(os.Remove(out + ".ready"))
}

// sayReady ends the wait of awaitReady.
func (c *child) sayReady() { must.Do(os.WriteFile(c.Out+".ready", nil, 0o600)) }

// until waits while a process runs until done reports true.
func until(ctx context.Context, process interface{ Exited() error }, done func() bool) {
	for !done() {
		must.Do(process.Exited())
		must.Do(wait(ctx, interval))
	}
}

// interval is the time between two polls.
const interval = 20 * time.Millisecond

// wait returns after a while, or at once with the cause when the context ends.
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

package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"graphview.dev/test/env"
)

// children are the processes that this program starts of itself, by the
// argument that asks for them.
var children = map[string]func(context.Context, *child) error{
	"floor":              func(ctx context.Context, c *child) error { return listAll(ctx, c, true) },
	"gzip":               func(ctx context.Context, c *child) error { return listAll(ctx, c, false) },
	"engine":             runEngine,
	"informers":          func(ctx context.Context, c *child) error { return runInformers(ctx, c, nil) },
	"stripped":           func(ctx context.Context, c *child) error { return runInformers(ctx, c, withoutManagedFields) },
	"controller-runtime": runControllerRuntime,
	"judged":             func(ctx context.Context, c *child) error { return runStep(ctx, c, judged) },
	"referred":           func(ctx context.Context, c *child) error { return runStep(ctx, c, referred) },
	"summaries": func(ctx context.Context, c *child) error {
		c.summaries = true
		return runEngine(ctx, c)
	},
	"server": runServer,
	"crowd":  runCrowd,
	"watch":  runWatch,
	"verify": runVerify,
}

// child is what a process that measures itself is given, and what it found.
type child struct {
	sample

	config       *rest.Config
	started      time.Time
	settle       time.Duration
	events       int           // number of the last to wait for after synced; 0: none
	out          string        // file for the sample
	certificates string        // directory with those to serve with
	url          string        // of an operator
	idle         time.Duration // to be after having settled
	view         lens
	subscribers  int
	summaries    bool // with one more subscriber, who gets summaries
	// Files for profiles: of the cold start, of what is held at the end, and of
	// the time of the events.
	cpuProfile, memProfile, eventProfile string
}

// synced notes how long it took.
func (c *child) synced() (err error) {
	c.Seconds = time.Since(c.started).Seconds()
	c.Processor, err = processorTime("self")
	return err
}

// settled waits for what a process does after it synced, and reads its memory as
// anybody outside would find it; then its heap.
func (c *child) settled(ctx context.Context) error {
	if err := wait(ctx, c.settle); err != nil {
		return err
	}
	if err := c.readMemory("self"); err != nil {
		return err
	}
	return c.readHeap()
}

// serve is the whole of a child process: it measures and writes its sample to a
// file.
func serve(ctx context.Context, measure func(context.Context, *child) error, args []string) error {
	c := &child{}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	kubeconfig := flags.String("kubeconfig", "", "")
	processors := flags.Int("processors", 0, "")
	flags.StringVar(&c.out, "out", "", "")
	flags.DurationVar(&c.settle, "settle", 0, "")
	flags.DurationVar(&c.idle, "idle", 0, "")
	flags.IntVar(&c.subscribers, "subscribers", 0, "")
	flags.IntVar(&c.events, "events", 0, "")
	flags.StringVar(&c.certificates, "certificates", "", "")
	flags.StringVar(&c.url, "url", "", "")
	flags.StringVar(&c.view.name, "view", whole.name, "")
	flags.StringVar(&c.view.path, "path", "", "")
	flags.StringVar(&c.cpuProfile, "cpuprofile", "", "")
	flags.StringVar(&c.eventProfile, "eventprofile", "", "")
	flags.StringVar(&c.memProfile, "memprofile", "", "")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	runtime.GOMAXPROCS(*processors) // none changes nothing
	var err error
	if c.config, err = clientcmd.BuildConfigFromFlags("", *kubeconfig); err != nil {
		return fmt.Errorf("read the kubeconfig: %w", err)
	}
	c.config.QPS = -1 // no client-side limit
	c.started = time.Now()
	if err := measure(ctx, c); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	text, err := json.Marshal(c.sample)
	if err != nil {
		return fmt.Errorf("encode the sample: %w", err)
	}
	return os.WriteFile(c.out, text, 0o600)
}

// measureChild runs a child to its end and returns its sample. Arguments that
// come later win.
func measureChild(ctx context.Context, plane *env.ControlPlane, name string, settle time.Duration, args ...string) (sample, error) {
	self, err := os.Executable()
	if err != nil {
		return sample{}, fmt.Errorf("find this program: %w", err)
	}
	return measureProgram(ctx, plane, name, self, append([]string{"-settle=" + settle.String()}, args...)...)
}

// measureProgram runs a program that measures itself to its end and returns its
// sample.
func measureProgram(ctx context.Context, plane *env.ControlPlane, name, path string, args ...string) (sample, error) {
	process, out, err := startChild(plane, name, path, args...)
	if err != nil {
		return sample{}, err
	}
	select {
	case <-process.Done():
	case <-ctx.Done():
		process.Stop()
		return sample{}, context.Cause(ctx)
	}
	return readSample(process, name, out)
}

// startChild starts a program that writes a sample to the file out at its end.
func startChild(plane *env.ControlPlane, name, path string, args ...string) (process *env.Process, out string, err error) {
	out = filepath.Join(plane.Dir(), name+".json")
	flags := []string{"-kubeconfig=" + filepath.Join(plane.Dir(), "kubeconfig"), "-out=" + out}
	if _, own := children[name]; own {
		flags = append([]string{name}, flags...)
	}
	process, err = plane.Run(name, path, append(flags, args...)...)
	return process, out, err
}

func readSample(process *env.Process, name, out string) (sample, error) {
	text, err := os.ReadFile(out)
	if err != nil {
		return sample{}, process.Exited()
	}
	if err := os.Remove(out); err != nil {
		return sample{}, fmt.Errorf("remove a sample: %w", err)
	}
	var s sample
	if err := json.Unmarshal(text, &s); err != nil {
		return sample{}, fmt.Errorf("decode the sample of %s: %w", name, err)
	}
	return s, nil
}

// pid of a process, as /proc names it.
func pid(p interface{ PID() int }) string { return strconv.Itoa(p.PID()) }

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

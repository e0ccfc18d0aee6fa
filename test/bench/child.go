package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"graphview.dev/test/env"
)

// children are the processes that this program starts of itself, by the
// argument that asks for them.
var children = map[string]func(context.Context, *child) error{
	"floor":     func(ctx context.Context, c *child) error { return listAll(ctx, c, true) },
	"gzip":      func(ctx context.Context, c *child) error { return listAll(ctx, c, false) },
	"engine":    runEngine,
	"informers": func(ctx context.Context, c *child) error { return runInformers(ctx, c, nil) },
	"stripped":  func(ctx context.Context, c *child) error { return runInformers(ctx, c, withoutManagedFields) },
}

// child is what a process that measures itself is given, and what it found.
type child struct {
	sample

	config                 *rest.Config
	started                time.Time
	settle                 time.Duration
	cpuProfile, memProfile string
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
	out := flags.String("out", "", "")
	flags.DurationVar(&c.settle, "settle", 0, "")
	flags.StringVar(&c.cpuProfile, "cpuprofile", "", "")
	flags.StringVar(&c.memProfile, "memprofile", "", "")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	var err error
	if c.config, err = clientcmd.BuildConfigFromFlags("", *kubeconfig); err != nil {
		return fmt.Errorf("read the kubeconfig: %w", err)
	}
	c.config.QPS = -1 // nobody is held back by a limit of its own
	c.started = time.Now()
	if err := measure(ctx, c); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	text, err := json.Marshal(c.sample)
	if err != nil {
		return fmt.Errorf("encode the sample: %w", err)
	}
	return os.WriteFile(*out, text, 0o600)
}

// measureChild runs a child to its end and returns its sample.
func measureChild(ctx context.Context, plane *env.ControlPlane, name string, settle time.Duration, args ...string) (sample, error) {
	self, err := os.Executable()
	if err != nil {
		return sample{}, fmt.Errorf("find this program: %w", err)
	}
	out := filepath.Join(plane.Dir(), name+".json")
	args = append([]string{
		name, "-kubeconfig=" + filepath.Join(plane.Dir(), "kubeconfig"), "-out=" + out, "-settle=" + settle.String(),
	}, args...)
	process, err := plane.Run(name, self, args...)
	if err != nil {
		return sample{}, err
	}
	select {
	case <-process.Done():
	case <-ctx.Done():
		process.Stop()
		return sample{}, context.Cause(ctx)
	}
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

// childOf finds the process of a program among those this one has started.
func childOf(program string) (pid string, err error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return "", fmt.Errorf("find the process of %s: %w", program, err)
	}
	for _, entry := range entries {
		pid := entry.Name()
		if _, err := strconv.Atoi(pid); err != nil {
			continue
		}
		if path, err := os.Readlink("/proc/" + pid + "/exe"); err != nil || path != program {
			continue
		}
		if s, err := readStatus(pid); err == nil && s["PPid"] == strconv.Itoa(os.Getpid()) {
			return pid, nil
		}
	}
	return "", fmt.Errorf("find the process of %s: none is ours", program)
}

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

package faults

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
	"graphview.dev/test/fixture"
	"graphview.dev/test/oracle"
	"graphview.dev/test/workload"
)

// running is an engine behind a proxy. It can be stopped and started again, as the
// process of an operator can.
type running struct {
	t       *testing.T
	options graphview.Options
	log     journal

	mu     sync.Mutex
	engine *graphview.Engine
	views  map[graphview.Name]v1alpha1.GraphViewSpec

	stop func()
}

// runEngine runs an engine behind a proxy until the test ends.
func runEngine(t *testing.T, p *Proxy, o graphview.Options) *running {
	t.Helper()
	r := &running{t: t, options: o, views: map[graphview.Name]v1alpha1.GraphViewSpec{}}
	r.options.Config = p.Config(plane.CA())
	r.options.Logger = r.log.logger()
	r.start()
	t.Cleanup(func() {
		r.stop()
		if t.Failed() {
			t.Logf("the engine's last words:\n%s", r.log.text())
		}
	})
	return r
}

// start starts an engine with the views of the one before it.
func (r *running) start() {
	r.t.Helper()
	engine, err := graphview.NewEngine(r.options)
	if err != nil {
		r.t.Fatal(err)
	}
	r.stop = fixture.Start(r.t, engine.Run)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.engine = engine
	for name, declared := range r.views {
		if err := engine.Apply(r.t.Context(), name, "uid-"+name.Name, declared); err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r *running) current() *graphview.Engine {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.engine
}

func viewName(name string) graphview.Name { return graphview.Name{Namespace: "faults", Name: name} }

// apply declares a view.
func (r *running) apply(name string, v oracle.View) {
	r.t.Helper()
	declared, err := workload.Spec(v)
	if err != nil {
		r.t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.views[viewName(name)] = declared
	if err := r.engine.Apply(r.t.Context(), viewName(name), "uid-"+name, declared); err != nil {
		r.t.Fatal(err)
	}
}

func (r *running) remove(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.views, viewName(name))
	r.engine.Remove(viewName(name))
}

// view looks a view up in the present engine.
func (r *running) view(name string) (*graphview.View, bool) { return r.current().View(viewName(name)) }

// status is a view's, for a person to read.
func (r *running) status(name string) string {
	s, ok := r.current().Status(viewName(name))
	if !ok {
		return "no such view"
	}
	return fmt.Sprintf("%d vertices, %d arcs, synced %t, %s, warnings %q", s.Vertices, s.Arcs, s.Synced, r.unsettled(name), s.Warnings)
}

// unsettled is what a view says of resources that are not as they should be.
func (r *running) unsettled(name string) string {
	s, _ := r.current().Status(viewName(name))
	var notes []string
	for _, row := range s.Resources {
		if row.Message != "" || !row.Synced {
			notes = append(notes, fmt.Sprintf("%s: synced %t %q", row.Resource, row.Synced, row.Message))
		}
	}
	return strings.Join(notes, "; ")
}

// journal keeps the last lines of a log.
type journal struct {
	mu    sync.Mutex
	lines []string
}

const mostLines = 300

func (j *journal) logger() logr.Logger {
	return funcr.New(func(prefix, args string) {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.lines = append(j.lines, prefix+" "+args)
		j.lines = j.lines[max(0, len(j.lines)-mostLines):]
	}, funcr.Options{LogTimestamp: true})
}

func (j *journal) text() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Join(j.lines, "\n")
}

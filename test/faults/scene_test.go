package faults

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/graphview"
	"graphview.dev/test/fixture"
	"graphview.dev/test/oracle"
	"graphview.dev/test/workload"
)

// healsWithin bounds how long after the end of all faults the graphs may differ.
const healsWithin = 2 * time.Minute

// slow is how long they may without a word about it.
const slow = 15 * time.Second

// scene is what lasts through all episodes: one engine behind one proxy, its
// views, and of each view a subscriber that stays and one that comes and goes.
type scene struct {
	client   client.Client
	proxy    *Proxy
	engine   *running
	extender *extension
	work     workload.Workload
	views    map[string]oracle.View
	steady   []*subscriber
	restless []*subscriber
	// etcdPauses counts how often etcd stood still.
	etcdPauses atomic.Int64
	// dice are for what happens between steps.
	dice *rand.Rand
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{client: newClient(t), proxy: newProxy(t)}
	red, blue := fixture.Namespace(t, s.client, "red"), fixture.Namespace(t, s.client, "blue")
	s.work = workload.Workload{Client: s.client, Namespaces: []string{red, blue}}
	s.extender = newExtension(t, s.client)
	createGears(t, s.client)
	s.engine = runEngine(t, s.proxy, graphview.Options{Linger: time.Second})
	s.views = workload.Views(red, blue)
	s.views["custom"] = oracle.View{
		Queries:    []oracle.Query{{Include: &oracle.Include{ResourceSelectorExpression: fmt.Sprintf("group in ['%s', '%s']", gearGroup, extensionGroup)}}},
		Namespaces: &oracle.Namespaces{Names: []string{red, blue}},
	}
	for _, name := range slices.Sorted(maps.Keys(s.views)) {
		s.engine.apply(name, s.views[name])
		for _, kept := range []*[]*subscriber{&s.steady, &s.restless} {
			sub := subscribe(t.Context(), name, s.engine.view)
			t.Cleanup(sub.stop) // before the engine's
			*kept = append(*kept, sub)
		}
	}
	return s
}

// episode breaks, changes, heals and compares. The first result describes it,
// the second is what went wrong on purpose; the error says how it failed.
func (s *scene) episode(ctx context.Context, seed uint64) (what string, troubles []trouble, err error) {
	r := rand.New(rand.NewPCG(seed, 0))
	s.dice = rand.New(rand.NewPCG(seed, 3))
	s.work.Random = rand.New(rand.NewPCG(seed, 1))
	troubles = choose(s, r)
	names := make([]string, len(troubles))
	for i := range troubles {
		names[i] = troubles[i].name
	}
	steps := 20 + r.IntN(40)
	what = fmt.Sprintf("%s; %d steps", strings.Join(names, " & "), steps)

	// One view is declared in the middle of it, and ends as equal as the others.
	late := slices.Sorted(maps.Keys(s.views))[r.IntN(len(s.views))]
	joins := r.IntN(steps)
	// A view of all namespaces comes and goes, and with it the watches that the others
	// share.
	comes, goes := r.IntN(steps), r.IntN(steps)
	defer s.engine.remove(wideName)
	defer s.engine.remove(lateName)
	var latecomer *subscriber
	err = s.suffer(ctx, troubles, steps, func(step int) {
		if step == comes {
			s.engine.apply(wideName, wide())
		}
		if step == goes {
			s.engine.remove(wideName)
		}
		if step == joins {
			s.engine.apply(lateName, s.views[late])
			latecomer = subscribe(ctx, lateName, s.engine.view)
		}
	})
	if latecomer != nil {
		defer latecomer.stop()
	}
	if err != nil {
		return what, troubles, err
	}
	healed := time.Now()
	err = errors.Join(s.compare(ctx), s.compareView(ctx, late, latecomer))
	if err == nil {
		what = fmt.Sprintf("%s; equal after %.1fs", what, time.Since(healed).Seconds())
	}
	for _, trouble := range troubles {
		if trouble.after != nil {
			err = errors.Join(err, trouble.after(ctx))
		}
	}
	return what, troubles, err
}

const (
	lateName = "late"
	wideName = "wide"
)

// wide is a view in all namespaces of most that the others have in some.
func wide() oracle.View {
	return oracle.View{Queries: []oracle.Query{{Include: &oracle.Include{
		ResourceSelectorExpression: "group in ['', 'apps', 'batch', 'discovery.k8s.io'] && !(resource in ['events', 'controllerrevisions', 'leases'])",
	}}}}
}

// suffer lets troubles happen while the workload goes on, and heals them.
func (s *scene) suffer(ctx context.Context, troubles []trouble, steps int, before func(step int)) error {
	var errs []error
	try := func(f func(context.Context) error) {
		if f != nil {
			errs = append(errs, f(ctx))
		}
	}
	outage := false
	var until time.Time
	for _, trouble := range troubles {
		try(trouble.begin)
		outage = outage || trouble.outage
		until = later(until, time.Now().Add(trouble.lasts))
	}
	for i := 0; i < steps || time.Now().Before(until); i++ {
		before(i)
		// Nobody can change anything while there is no API server.
		if err := s.work.Step(ctx); err != nil && !outage {
			errs = append(errs, err)
		}
		for _, trouble := range troubles {
			try(trouble.step)
		}
		if s.dice.IntN(6) == 0 {
			s.restless[s.dice.IntN(len(s.restless))].lose(time.Duration(s.dice.IntN(800)) * time.Millisecond)
		}
		pause(ctx, time.Duration(s.dice.IntN(80))*time.Millisecond)
	}
	for _, trouble := range slices.Backward(troubles) {
		try(trouble.heal)
	}
	s.proxy.Heal()
	for range 5 { // what happens just after counts too
		errs = append(errs, s.work.Step(ctx))
	}
	return errors.Join(errs...)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// compare waits until every subscriber has the oracle's graph.
func (s *scene) compare(ctx context.Context) error {
	for i := range s.steady {
		if err := s.compareView(ctx, s.steady[i].view, s.steady[i], s.restless[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *scene) compareView(ctx context.Context, view string, subscribers ...*subscriber) error {
	began, last := time.Now(), ""
	defer func() {
		if took := time.Since(began); took > slow {
			fmt.Printf("    %q took %.1fs; until then %.1200s\n", view, took.Seconds(), last)
		}
	}()
	why := fixture.Wait(ctx, healsWithin, pollInterval, func() (why string) {
		defer func() { last = cmp.Or(why, last) }()
		for _, sub := range subscribers {
			if err := sub.broken(); err != nil {
				return err.Error()
			}
		}
		want, err := oracle.Build(ctx, plane.Config(), s.views[view])
		if err != nil {
			return fmt.Sprintf("oracle: %v", err)
		}
		for i, sub := range subscribers {
			if d := sub.differs(want); d != "" {
				return fmt.Sprintf("subscriber %d of %q, which is %s; the oracle has %d vertices and %d arcs (-oracle +client):\n%s",
					i, view, s.engine.status(sub.view), len(want.Vertices), len(want.Arcs), d)
			}
		}
		return ""
	})
	if why != "" {
		return errors.New(why)
	}
	return nil
}

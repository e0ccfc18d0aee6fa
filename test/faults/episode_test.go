package faults

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// episode is what one seed does to one scene.
type episode struct {
	*scene

	seed     uint64
	troubles []trouble
	steps    int
	// late is a view that is declared once more in the middle of it, and ends as equal
	// as the others. A view of all namespaces comes and goes, and with it the watches
	// that the others share.
	late               string
	joins, comes, goes int
	latecomer          *viewer
	// outage: the API server is unavailable for a while to all clients.
	outage bool

	mu  sync.Mutex
	err error
}

// prepare draws the troubles of an episode. Only the first scene draws troubles of the
// whole cluster; the other scenes have them too.
func (s *scene) prepare(seed uint64, first *episode) *episode {
	r := rand.New(rand.NewPCG(seed, 0))
	s.dice = rand.New(rand.NewPCG(seed, 3))
	s.work.Random = rand.New(rand.NewPCG(seed, 1))
	e := &episode{scene: s, seed: seed}
	if first == nil {
		e.troubles = choose(s, r, nil)
	} else {
		e.troubles = choose(s, r, first.troubles)
	}
	e.outage = slices.ContainsFunc(e.troubles, func(t trouble) bool { return t.outage })
	e.steps = 20 + r.IntN(40)
	e.late = slices.Sorted(maps.Keys(s.views))[r.IntN(len(s.views))]
	e.joins = r.IntN(e.steps)
	e.comes, e.goes = r.IntN(e.steps), r.IntN(e.steps)
	return e
}

// String says what happens.
func (e *episode) String() string {
	names := make([]string, len(e.troubles))
	for i := range e.troubles {
		names[i] = e.troubles[i].name
	}
	return fmt.Sprintf("%s; %d steps", strings.Join(names, " & "), e.steps)
}

// try runs f, unless it is nil, and records its error.
func (e *episode) try(ctx context.Context, f func(context.Context) error) {
	if f == nil {
		return
	}
	if err := f(ctx); err != nil {
		e.mu.Lock()
		e.err = errors.Join(e.err, err)
		e.mu.Unlock()
	}
}

// round plays an episode in all scenes at the same time: it breaks, changes, heals and
// compares. Troubles of the whole cluster begin after all others and end before them, so
// that they do not block either.
func round(ctx context.Context, scenes []*scene, seed uint64) []*episode {
	episodes := make([]*episode, len(scenes))
	var first *episode
	for i, s := range scenes {
		episodes[i] = s.prepare(seed+uint64(i), first)
		first = episodes[0]
	}
	each := func(do func(*episode)) {
		var all sync.WaitGroup
		for _, e := range episodes {
			all.Go(func() { do(e) })
		}
		all.Wait()
	}
	each(func(e *episode) { e.begin(ctx, false) })
	first.begin(ctx, true)
	each(func(e *episode) { e.suffer(ctx) })
	first.heal(ctx, true)
	each(func(e *episode) {
		e.heal(ctx, false)
		e.proxy.Heal()
		e.outage = false
		for range 5 { // what happens just after counts too
			e.try(ctx, e.change)
		}
	})
	var looks []*look
	for _, e := range episodes {
		looks = append(looks, e.looks()...)
		if e.latecomer != nil {
			looks = append(looks, &look{scene: e.scene, view: lateName, want: e.views[e.late], subscribers: []*viewer{e.latecomer}})
		}
	}
	wrong := compare(ctx, looks)
	each(func(e *episode) {
		e.err = errors.Join(e.err, wrong[e.scene])
		for _, t := range e.troubles {
			e.try(ctx, t.after)
		}
		e.engine.remove(wideName)
		e.engine.remove(lateName)
		if e.latecomer != nil {
			e.latecomer.stop()
		}
	})
	return episodes
}

// begin begins the troubles: either all outages or all others.
func (e *episode) begin(ctx context.Context, outages bool) {
	for _, t := range e.troubles {
		if t.outage == outages {
			e.try(ctx, t.begin)
		}
	}
}

// heal ends them, the last to begin first.
func (e *episode) heal(ctx context.Context, outages bool) {
	for _, t := range slices.Backward(e.troubles) {
		if t.outage == outages {
			e.try(ctx, t.heal)
		}
	}
}

// suffer lets troubles happen while the workload goes on.
func (e *episode) suffer(ctx context.Context) {
	var until time.Time
	for _, t := range e.troubles {
		until = later(until, time.Now().Add(t.lasts))
	}
	for i := 0; ctx.Err() == nil && (i < e.steps || time.Now().Before(until)); i++ {
		if i == e.comes {
			e.engine.apply(wideName, wide())
		}
		if i == e.goes {
			e.engine.remove(wideName)
		}
		if i == e.joins {
			e.engine.apply(lateName, e.views[e.late])
			e.latecomer = subscribe(ctx, lateName, e.engine.view)
		}
		e.try(ctx, e.change)
		for _, t := range e.troubles {
			e.try(ctx, t.step)
		}
		if e.dice.IntN(6) == 0 {
			e.restless[e.dice.IntN(len(e.restless))].lose(time.Duration(e.dice.IntN(800)) * time.Millisecond)
		}
		pause(ctx, time.Duration(e.dice.IntN(80))*time.Millisecond)
	}
}

// change makes a change of the workload. That fails while the API server is down, and on a
// busy machine when a connection is taken for dead: an attempt without an answer does not
// count.
func (e *episode) change(ctx context.Context) error {
	err := e.work.Step(ctx)
	var answer *apierrors.StatusError
	if e.outage || !errors.As(err, &answer) && ctx.Err() == nil {
		return nil
	}
	return err
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

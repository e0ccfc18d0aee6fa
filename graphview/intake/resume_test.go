//go:build !race

package intake

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/health"
	"graphview.dev/graphview/history"
	"graphview.dev/graphview/quota"
	"graphview.dev/graphview/rules"
	"graphview.dev/graphview/watch"
	"graphview.dev/graphview/writer"
	"graphview.dev/test/configmaps"
)

// life is an object of a model. Those with even numbers have the label that a selector selects.
type life struct {
	uid     string
	created int64 // in whole seconds, as the API server says
	fields  uint64
	health  health.State
	some    bool // known from the watch with the selector
}

// UID returns the UID of the object.
func (l life) UID() string { return l.uid }

// restarts is a cluster, whose objects change at random, and an operator that is stopped, killed and started again.
type restarts struct {
	*testing.T

	random *rand.Rand
	dir    string
	now    time.Time
	whole  *watch.Watch
	some   *watch.Watch // with a selector

	cluster map[int]life
	changed map[int]int64 // when an object last changed, appeared or disappeared
	version uint64

	// The present process.
	store *history.Store
	log   *history.Log
	graph *graph.Graph
	feed  *Feed
	end   context.CancelFunc
	// known are the objects that its history has to know, and unseen the objects that no watch of the process had.
	known, unseen map[int]life

	// The objects that the file has to have.
	stored map[int]life
	until  int64 // as of when that is certain
}

func (r *restarts) pass() { r.now = r.now.Add(time.Duration(1+r.random.IntN(3000)) * time.Millisecond) }

// start starts a process with a watch.
func (r *restarts) start(w *watch.Watch) {
	r.pass()
	var err error
	if r.store, err = history.OpenStore(r.dir); err != nil {
		r.Fatal(err)
	}
	r.log = history.NewLog(history.Options{Store: r.store, Now: func() time.Time { return r.now }})
	r.graph = graph.New(nil)
	in := New(Options{
		Graph: r.graph, Writer: writer.New(r.graph), Rules: rules.NewSet(func() {}), Processors: quota.NewProcessors(logr.Discard()),
		Retry: time.Hour, History: r.log,
	})
	var ctx context.Context
	ctx, r.end = context.WithCancel(r.Context())
	r.feed = in.NewFeed(ctx, w, configmaps.Resource)
	r.known, r.unseen = maps.Clone(r.stored), maps.Clone(r.stored)
}

// watches reports whether the watch of the process has an object.
func (r *restarts) watches(i int) bool { return r.feed.watch == r.whole || i%2 == 0 }

func (r *restarts) name(i int) string { return fmt.Sprint("o", i) }

// send sets an object, or deletes it.
func (r *restarts) send(i int) {
	if !r.watches(i) {
		return
	}
	o, there := r.cluster[i]
	if !there {
		r.graph.Update((&deleteEvent{feed: r.feed, namespace: "shop", name: r.name(i), uid: r.known[i].uid}).Apply)
		delete(r.known, i)
		return
	}
	r.version++
	ev := &setEvent{
		feed: r.feed, object: graph.Object{Namespace: "shop", Name: r.name(i), UID: o.uid, Version: r.version, Hash: r.version, Payload: o},
		observed: observation{fields: o.fields, created: o.created, before: 1},
	}
	ev.observed.paths = []history.Path{{Path: "data.key", Op: history.Changed}}
	ev.observed.health = health.Health{State: o.health}
	r.graph.Update(ev.Apply)
	delete(r.unseen, i)
	o.some = r.feed.watch == r.some
	r.known[i] = o
}

// list sends all objects as the first list of the watch does, and checks the entries of changed objects.
func (r *restarts) list(resumed bool) {
	before := r.log.Now()
	r.pass()
	var want []string
	for i := range 12 {
		if !r.watches(i) {
			continue
		}
		was, knew := r.stored[i]
		is, there := r.cluster[i]
		content := ""
		if was.fields != is.fields {
			content = " content"
		}
		switch {
		case !resumed:
		case knew && there && was.uid == is.uid:
			if content != "" || was.health != is.health {
				want = append(want, fmt.Sprintf("changed %s %s %s>%s%s", r.name(i), is.uid, was.health, is.health, content))
			}
		case knew && there:
			want = append(want, fmt.Sprintf("removed %s %s %s>unknown", r.name(i), was.uid, was.health), fmt.Sprintf("added %s %s unknown>%s", r.name(i), is.uid, is.health))
		case knew && r.feed.watch == r.some && !was.some:
			// It may have lost the label.
		case knew:
			delete(r.known, i)
			delete(r.unseen, i)
			want = append(want, fmt.Sprintf("removed %s %s %s>unknown", r.name(i), was.uid, was.health))
		case there && is.created+1_000_000 > r.until-1_000_000:
			want = append(want, fmt.Sprintf("added %s %s unknown>%s", r.name(i), is.uid, is.health))
		}
	}
	for _, i := range r.random.Perm(12) {
		if _, there := r.cluster[i]; there {
			r.send(i)
		}
	}
	r.pass()
	r.graph.Update(func() { r.feed.recordState(watch.State{Synced: true}) })
	var got []string
	for e := range r.log.Forward("shop", before) {
		line := fmt.Sprint([...]string{"changed", "added", "removed"}[e.Op], " ", e.Object.Name, " ", e.UID, " ", e.Before.Unpack().State, ">", e.After.Unpack().State)
		for _, p := range e.Paths {
			line += " content" + p.Path
		}
		got = append(got, line)
		var i int
		_, _ = fmt.Sscanf(e.Object.Name, "o%d", &i)
		if at := r.changed[i]; at < e.From || at > e.At || e.From == 0 || e.Op == history.Added && e.From < r.cluster[i].created {
			r.Errorf("%s changed at %d, and the entry says from %d to %d", line, at, e.From, e.At)
		}
		if begun := r.feed.Begun(); e.At > begun {
			r.Errorf("%s at %d, and the graph of the past begins at %d", line, e.At, begun)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if d := cmp.Diff(want, got); d != "" {
		r.Fatalf("until %d, list at %d (-want +got):\n%s", r.until, r.now.UnixMicro(), d)
	}
}

// change changes an object of the cluster.
func (r *restarts) change() int {
	r.pass()
	i := r.random.IntN(12)
	o, there := r.cluster[i]
	switch {
	case !there:
		r.version++
		r.cluster[i] = life{uid: fmt.Sprintf("00000000-0000-4000-8000-%012d", r.version), created: r.now.Unix() * 1_000_000, fields: r.version, health: health.OK}
	case r.random.IntN(3) == 0:
		delete(r.cluster, i)
	default:
		if r.random.IntN(2) == 0 {
			r.version++
			o.fields = r.version
		}
		o.health = health.States[r.random.IntN(3)]
		r.cluster[i] = o
	}
	r.changed[i] = r.now.UnixMicro()
	return i
}

// flush writes the history. If it has compared all objects of the process before, or has waited for long, the file is
// certain as of now.
func (r *restarts) flush() {
	r.log.KeepUp()
	if r.stored = maps.Clone(r.known); len(r.unseen) == 0 {
		r.until = r.now.UnixMicro()
	}
}

// TestResumeEqualsModel changes objects at random, while processes run and while none runs. Processes end in order, or
// are killed with changes that are not written. After each start, the history has one entry for each object that changed
// since the file was last written, and it says how, and from when to when. No other object has one.
func TestResumeEqualsModel(t *testing.T) {
	w := start(t, configmaps.Serve(t, 0))
	whole, some := w.feed("").watch, w.feed("part=even").watch
	for seed := range uint64(25) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := &restarts{
				T: t, random: rand.New(rand.NewPCG(58, seed)), dir: t.TempDir(), now: time.Now(), whole: whole, some: some,
				cluster: make(map[int]life), stored: make(map[int]life), changed: make(map[int]int64),
			}
			for process := range 12 {
				of := r.whole
				if r.random.IntN(4) == 0 {
					of = r.some
				}
				r.start(of)
				for range r.random.IntN(3) { // before the list
					r.change()
				}
				if process == 0 {
					r.until = r.now.UnixMicro()
				}
				r.list(process > 0)
				r.flush()
				if r.random.IntN(2) == 0 { // objects that no watch asks for are dropped
					r.now = r.now.Add(3 * time.Minute)
					for i := range r.unseen {
						delete(r.known, i)
					}
					clear(r.unseen)
					r.flush()
				}
				for range r.random.IntN(30) {
					r.send(r.change())
					if r.random.IntN(4) == 0 {
						r.flush()
					}
				}
				inOrder := r.random.IntN(2) == 0
				if inOrder {
					r.flush()
				}
				r.end()
				r.graph.Update(func() { r.graph.RemoveSource(r.feed.source) })
				r.graph.Update(func() {})
				if inOrder { // the log is the last to end
					r.log.KeepUp()
				}
				if err := r.store.Close(); err != nil {
					t.Fatal(err)
				}
				for range r.random.IntN(20) {
					r.change()
				}
			}
		})
	}
}

package faults

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/graphview"
	"graphview.dev/test/fixture"
	"graphview.dev/test/oracle"
	"graphview.dev/test/workload"
)

// scene lasts through all episodes: an engine behind a proxy, its views and, for each
// view, a permanent subscriber and a reconnecting one. Several scenes share a control
// plane.
type scene struct {
	*cluster

	proxy    *Proxy
	engine   *running
	work     workload.Workload
	views    map[string]oracle.View
	steady   []*viewer
	restless []*viewer
	// dice are for what happens between steps.
	dice *rand.Rand
}

// cluster is what all scenes have in common.
type cluster struct {
	client   client.Client
	extender *extension
	// etcdPauses counts how often etcd stood still.
	etcdPauses atomic.Int64
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{client: newClient(t)}
	c.extender = newExtension(t, c.client)
	createGears(t, c.client)
	return c
}

func newScene(t *testing.T, c *cluster) *scene {
	t.Helper()
	s := &scene{cluster: c, proxy: newProxy(t)}
	red, blue := fixture.Namespace(t, plane, s.client, "red"), fixture.Namespace(t, plane, s.client, "blue")
	s.work = workload.Workload{Client: s.client, Namespaces: []string{red, blue}}
	s.engine = runEngine(t, s.proxy, graphview.Options{Linger: time.Second})
	s.views = workload.Views(red, blue)
	s.views["custom"] = oracle.View{
		Queries:    []oracle.Query{{Include: &oracle.Include{ResourceSelectorExpression: fmt.Sprintf("group in ['%s', '%s']", gearGroup, extensionGroup)}}},
		Namespaces: &oracle.Namespaces{Names: []string{red, blue}},
	}
	for _, name := range slices.Sorted(maps.Keys(s.views)) {
		s.engine.apply(name, s.views[name])
		for _, kept := range []*[]*viewer{&s.steady, &s.restless} {
			sub := subscribe(t.Context(), name, s.engine.view)
			t.Cleanup(sub.stop) // before the engine's
			*kept = append(*kept, sub)
		}
	}
	return s
}

// looks are at all views of the scene.
func (s *scene) looks() []*look {
	var looks []*look
	for i := range s.steady {
		view := s.steady[i].view
		looks = append(looks, &look{scene: s, view: view, want: s.views[view], subscribers: []*viewer{s.steady[i], s.restless[i]}})
	}
	return looks
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

package integration

import (
	"context"
	"flag"
	"testing"

	"graphview.dev/graphview"
	"graphview.dev/graphview/spec"
	"graphview.dev/stream"
	"graphview.dev/test/relayed"
)

// viaEdge has the tests of declared views run as if subscribers were connected to a
// replica that does not hold them.
var viaEdge = flag.Bool("edge", false, "serve declared views by way of another replica than the one that holds them")

// published is an engine whose views are served by it, or by another replica.
type published struct {
	*graphview.Engine

	relayed *relayed.Views // nil: by the engine
}

func publish(t *testing.T) *published {
	t.Helper()
	p := &published{Engine: runEngine(t, graphview.Options{Recall: *viaEdge})}
	if *viaEdge {
		p.relayed = relayed.New(t, p.Engine, cluster.Config())
	}
	return p
}

// Apply shadows the engine's, as Remove does: both replicas are told.
func (p *published) Apply(ctx context.Context, name graphview.Name, uid string, declared spec.Spec) error {
	if p.relayed == nil {
		return p.Engine.Apply(ctx, name, uid, declared)
	}
	return p.relayed.Apply(ctx, name, uid, declared)
}

func (p *published) Remove(name graphview.Name) {
	if p.relayed == nil {
		p.Engine.Remove(name)
		return
	}
	p.relayed.Remove(name)
}

// Watches shadows the engine's, too: the edge has those of views for one connection.
func (p *published) Watches() int {
	n := p.Engine.Watches()
	if p.relayed != nil {
		n += p.relayed.Watches()
	}
	return n
}

// graphs are what the tests' server serves.
func (p *published) graphs() stream.Cluster {
	if p.relayed == nil {
		return stream.Of(p.Engine)
	}
	return p.relayed.Graphs()
}

package controllers

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
)

// PlacementLabel replaces what the placement of a GraphView goes by, where replicas
// share the views: those with one value are held together.
const PlacementLabel = "graphview.dev/placement"

// Members are the replicas of this operator, see package replicas.
type Members interface {
	// First reports whether this replica ranks first for a scope.
	First(scope string) bool
	// Changed is closed when First may next return something else.
	Changed() <-chan struct{}
}

// The scopes for which the first replica writes status: of GraphViews where each replica
// holds every view, of ReferenceRules, and of ClusterLinks.
const (
	viewStatus = "status of GraphViews"
	ruleStatus = "status of ReferenceRules"
	linkStatus = "status of ClusterLinks"
)

// Placement decides which replica writes which status, where they share the views.
type Placement interface {
	// Place is told the value of the PlacementLabel, before the engine is told of the
	// spec.
	Place(name graphview.Name, label string)
	// Settled reports whether the engine of this replica has a view if and only if this replica has
	// to hold it. If not, the spec has to be applied again.
	Settled(name graphview.Name) bool
	// Writes reports whether this replica writes the status of a view. The view is notified
	// when that changes.
	Writes(name graphview.Name) bool
}

// writes reports whether this replica writes the status of a view. A replica that begins
// to write has not seen the view become ready, as after a restart.
func (r *GraphViewReconciler) writes(name graphview.Name, record *record) bool {
	writes := true
	switch {
	case r.options.Placement != nil:
		writes = r.options.Placement.Writes(name)
	case r.options.Members != nil:
		writes = r.options.Members.First(viewStatus)
	}
	if writes && !record.writing {
		record.written, record.met = nil, r.options.Clock.Now()
	}
	record.writing = writes
	return writes
}

// Published returns what the status of a GraphView says, as the cache of c has it.
func Published(ctx context.Context, c client.Reader) func(graphview.Name) graphview.Status {
	return func(name graphview.Name) graphview.Status {
		var view v1alpha1.GraphView
		// An error is that the GraphView was deleted, or that the cache stops.
		if c.Get(ctx, client.ObjectKey{Namespace: name.Namespace, Name: name.Name}, &view) != nil {
			return graphview.Status{}
		}
		s := &view.Status
		status := graphview.Status{
			Vertices: int(s.Vertices), Arcs: int(s.Arcs), Roots: int(s.Roots), Subscribers: int(s.Subscribers),
			Synced: len(s.Resources) > 0,
		}
		for i := range s.Resources {
			status.Synced = status.Synced && s.Resources[i].Synced
		}
		ready := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionReady)
		if ready != nil && ready.Reason == v1alpha1.ReasonLimitExceeded && ready.ObservedGeneration == view.Generation {
			status.LimitExceeded = ready.Message
		}
		return status
	}
}

// Ineffective returns what [v1alpha1.GraphView.Ineffective] says, as the cache of c has it.
func Ineffective(ctx context.Context, c client.Reader) func(graphview.Name) (text string, known bool) {
	return func(name graphview.Name) (string, bool) {
		var view v1alpha1.GraphView
		// An error is that the GraphView was deleted, or that the cache stops.
		if c.Get(ctx, client.ObjectKey{Namespace: name.Namespace, Name: name.Name}, &view) != nil {
			return "", false
		}
		return view.Ineffective()
	}
}

package controllers

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
)

// initialSync knows when every GraphView of the first list has been applied to the engine.
// Until then, a view that the engine does not know may exist.
type initialSync struct {
	known chan struct{} // closed when the engine has all

	mu      sync.Mutex
	listed  bool
	early   map[graphview.Name]bool // applied before they were listed
	missing map[graphview.Name]bool // listed, and not applied yet
}

func newInitialSync() *initialSync {
	return &initialSync{known: make(chan struct{}), early: map[graphview.Name]bool{}}
}

// list records the first list of GraphViews. It is called once.
func (s *initialSync) list(names []graphview.Name) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed, s.missing = true, map[graphview.Name]bool{}
	for _, name := range names {
		if !s.early[name] {
			s.missing[name] = true
		}
	}
	s.early = nil
	if len(s.missing) == 0 {
		close(s.known)
	}
}

// applied records that a GraphView has been applied to the engine, or was deleted.
func (s *initialSync) applied(name graphview.Name) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.listed:
		s.early[name] = true
	case s.missing[name]:
		delete(s.missing, name)
		if len(s.missing) == 0 {
			close(s.known)
		}
	}
}

// Known returns a channel that is closed when the engine has every GraphView that existed
// at the start of the reconciler.
func (r *GraphViewReconciler) Known() <-chan struct{} { return r.initial.known }

// listAll lists the GraphViews for initialSync, as soon as the cache has them and
// the engine has the ReferenceRules.
func (r *GraphViewReconciler) listAll(ctx context.Context) error {
	if rules := r.options.RulesKnown; rules != nil {
		select {
		case <-ctx.Done():
			return nil
		case <-rules:
		}
	}
	var views v1alpha1.GraphViewList
	if err := r.client.List(ctx, &views); err != nil {
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the cache stops because everything does
		}
		return fmt.Errorf("list GraphViews: %w", withRemedy(err))
	}
	names := make([]graphview.Name, 0, len(views.Items))
	for i := range views.Items {
		names = append(names, graphview.Name{Namespace: views.Items[i].Namespace, Name: views.Items[i].Name})
	}
	r.initial.list(names)
	return nil
}

// withRemedy adds the remedy to the error of a cluster without our CustomResourceDefinitions.
func withRemedy(err error) error {
	if meta.IsNoMatchError(err) {
		return fmt.Errorf("%w; install the CustomResourceDefinitions of this version first (config/crd)", err)
	}
	return err
}

package stream

import (
	"context"

	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/api/reason"
	"graphview.dev/graphview"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/names"
	"graphview.dev/stream/rights"
)

// Admit checks the right of a user who did not authenticate here, such as a user of a hub,
// and returns a lease on its rights. It counts as a stream of the user, which ends when the
// server stops. The error is a *delivery.ClosedError.
func (s *Server) Admit(ctx context.Context, who user.Info, verb string, view graphview.Name, end context.CancelCauseFunc) (*rights.Lease, func(), error) {
	right := rightToGraph(verb, view.Namespace, view.Name)
	if err := s.access.may(ctx, who, right); err != nil {
		return nil, nil, err
	}
	stream, err := s.registry.Reserve(ctx, budget.UserOwner(who))
	if err != nil {
		return nil, nil, &delivery.ClosedError{Reason: reason.TooManyRequests, Message: err.Error()}
	}
	stopped := context.AfterFunc(stream.Ctx, func() { end(context.Cause(stream.Ctx)) })
	lease := s.permissions.Acquire(stream.Ctx, who, names.Local(view), right.terms(stream.End))
	return lease, func() {
		lease.Release()
		stopped()
		stream.Release()
	}, nil
}

// List returns the views that a user who did not authenticate here may get or list: all,
// those of a namespace, or one. The error is a *delivery.ClosedError.
func (s *Server) List(ctx context.Context, who user.Info, verb, namespace, name string) ([]View, error) {
	if err := s.access.may(ctx, who, rightToGraph(verb, namespace, name)); err != nil {
		return nil, err
	}
	if !s.known() {
		return nil, errStarting
	}
	if name != "" {
		view, ok := s.options.Cluster.Find(graphview.Name{Namespace: namespace, Name: name})
		if !ok {
			return nil, errNotFound
		}
		return []View{view}, nil
	}
	var views []View
	for _, view := range s.options.Cluster.List() {
		if namespace == "" || view.Name().Namespace == namespace {
			views = append(views, view)
		}
	}
	return views, nil
}

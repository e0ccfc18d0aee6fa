package graphview

import (
	"context"
	"errors"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/spec"
)

// Permit reports, for each place, whether an account may list and watch it. The namespace ""
// means all namespaces. With an error, it returns the answers that it has.
type Permit func(ctx context.Context, places []access.Place) (map[access.Place]bool, error)

// permitOf returns the Permit that restricts the view's watches, nil for none, and the name of its
// account in warnings.
func (v *View) permitOf(p *spec.Program) (Permit, string) {
	switch {
	case v.engine.o.Own != nil:
		return v.engine.o.Own, "you"
	case v.permit != nil:
		return v.permit, "you"
	}
	account := p.Spec.ServiceAccountName
	if account == "" {
		return nil, ""
	}
	who := "service account " + account
	if v.engine.o.Permit == nil {
		return func(context.Context, []access.Place) (map[access.Place]bool, error) {
			return nil, errors.New("this server cannot decide for service accounts")
		}, who
	}
	return func(ctx context.Context, places []access.Place) (map[access.Place]bool, error) {
		return v.engine.o.Permit(ctx, Name{v.name.Namespace, account}, places)
	}, who
}

// watchable returns what Own says about cluster-scoped resources, nil without it.
func (o *Options) watchable() func(ctx context.Context, group, resource string) bool {
	if o.Own == nil {
		return nil
	}
	return func(ctx context.Context, group, resource string) bool {
		place := access.Place{Group: group, Resource: resource}
		answers, err := o.Own(ctx, []access.Place{place})
		return err == nil && answers[place]
	}
}

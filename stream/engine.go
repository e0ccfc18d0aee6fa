package stream

import (
	"context"

	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
)

// Of returns the cluster of an engine in this process.
func Of(e *graphview.Engine) Cluster { return engineCluster{e} }

type engineCluster struct{ engine *graphview.Engine }

func (c engineCluster) Find(name graphview.Name) (View, bool) {
	view, ok := c.engine.View(name)
	return engineView{view}, ok
}

func (c engineCluster) List() []View {
	all := c.engine.Views()
	views := make([]View, 0, len(all))
	for _, view := range all {
		views = append(views, engineView{view})
	}
	return views
}

func (c engineCluster) Open(ctx context.Context, o graphview.OpenOptions) (View, func(), error) {
	view, err := c.engine.Open(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	return engineView{view}, func() { c.engine.CloseView(view) }, nil
}

type engineView struct{ *graphview.View }

func (v engineView) Subscribe(o delivery.SubscribeOptions) Subscription { return v.View.Subscribe(o) }

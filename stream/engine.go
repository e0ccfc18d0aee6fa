package stream

import (
	"context"

	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
)

// Of is what an engine has to serve.
func Of(e *graphview.Engine) Graphs { return engineGraphs{e} }

type engineGraphs struct{ engine *graphview.Engine }

func (g engineGraphs) View(name graphview.Name) (View, bool) {
	view, ok := g.engine.View(name)
	return engineView{view}, ok
}

func (g engineGraphs) Views() []View {
	all := g.engine.Views()
	views := make([]View, 0, len(all))
	for _, view := range all {
		views = append(views, engineView{view})
	}
	return views
}

func (g engineGraphs) Open(ctx context.Context, o graphview.OpenOptions) (View, func(), error) {
	view, err := g.engine.Open(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	return engineView{view}, func() { g.engine.CloseView(view) }, nil
}

type engineView struct{ *graphview.View }

func (v engineView) Subscribe(o delivery.SubscribeOptions) Subscription { return v.View.Subscribe(o) }

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/test/must"
)

// disturbance is a load beside a neighbour until ctx ends. It deletes the views that it made, and
// returns how often it ran, as a text.
type disturbance struct {
	name string
	run  func(ctx context.Context) (took string)
}

func (n *neighbour) disturbances() []disturbance {
	return []disturbance{
		{"a view of all objects comes and goes", n.comesAndGoes},
		{"a view is judged that costs its whole budget on each object", n.costs},
		{fmt.Sprintf("%d views of all objects are shown what is there, at once", replaysAtOnce), n.replays},
		{fmt.Sprintf("a view of all objects and %d smaller ones come and go beside %d views", smallAtOnce, standing), n.amongMany},
	}
}

// comesAndGoes makes, follows and deletes a view of everything, again and again.
func (n *neighbour) comesAndGoes(ctx context.Context) (took string) {
	times := 0
	for ctx.Err() == nil {
		large := lens{name: fmt.Sprintf("large-%d", times)}
		n.with(ctx, []lens{large}, func() { n.fillOnce(ctx, large) })
		if ctx.Err() == nil {
			times++
		}
	}
	return fmt.Sprintf(" (%d times)", times)
}

// fillOnce follows a view until a subscriber has all of it.
func (n *neighbour) fillOnce(ctx context.Context, l lens) {
	conn := must.Get(n.m.dialer.dial(ctx, l, ""))
	defer closeAll(conn)
	must.Get(follow(ctx, conn, ignore))
}

// costly is an expression that costs nearly the whole budget on each object.
var costly = "[" + strings.TrimSuffix(strings.Repeat("1,", 900), ",") + "].map(i,[i,i,i,i,i,i]).map(i,i.map(j,j+1)).all(i,i.all(j,j>0))"

// costs makes a view of everything with a costly expression.
func (n *neighbour) costs(ctx context.Context) (took string) {
	const metricName = "graphview_expression_cost_total"
	before := n.m.metric(ctx, metricName)
	var after float64
	n.with(ctx, []lens{{name: "costly", only: costly}}, func() {
		<-ctx.Done()
		after = n.m.metric(context.WithoutCancel(ctx), metricName)
	})
	if after-before < 1e6 {
		must.Do(errors.New("the expression was not evaluated"))
	}
	return fmt.Sprintf(" (%.0f M units in all)", (after-before)/1e6)
}

// replays makes views of everything at once and deletes them when they have synced, again
// and again.
func (n *neighbour) replays(ctx context.Context) (took string) {
	times := 0
	for ctx.Err() == nil {
		views := make([]lens, replaysAtOnce)
		for i := range views {
			views[i].name = fmt.Sprintf("replay-%d-%d", times, i)
		}
		n.with(ctx, views, func() { n.ready(ctx, 1+replaysAtOnce) })
		if ctx.Err() == nil {
			times++
		}
		n.with(ctx, nil, func() { n.ready(ctx, 1) })
	}
	return fmt.Sprintf(" (%d times to the end)", times)
}

// amongMany makes many views, a tenth of them of everything, and beside them makes others
// and deletes these when they have synced, again and again.
func (n *neighbour) amongMany(ctx context.Context) (took string) {
	many := make([]lens, standing)
	for i := range many {
		many[i] = lens{name: fmt.Sprintf("standing-%d", i), namespace: shape{}.namespace(i % 10)}
		if i%10 == 0 {
			many[i].namespace = ""
		}
	}
	times := 0
	n.with(ctx, many, func() {
		n.ready(ctx, 1+standing)
		for ctx.Err() == nil {
			views := []lens{{name: fmt.Sprintf("guest-%d", times)}}
			for i := range smallAtOnce {
				views = append(views, lens{name: fmt.Sprintf("guest-%d-%d", times, i), namespace: shape{}.namespace(i % 10)})
			}
			n.with(ctx, views, func() { n.ready(ctx, 1+standing+len(views)) })
			n.ready(ctx, 1+standing)
			times++
		}
	})
	return fmt.Sprintf(" (%d times)", times)
}

// ready waits until exactly so many views are ready.
func (n *neighbour) ready(ctx context.Context, views int) {
	until(ctx, n.m, func() bool {
		return n.m.metric(ctx, "graphview_views", "state", "ready") == float64(views)
	})
}

// with makes views, calls do, and deletes the views. The end of ctx is no error.
func (n *neighbour) with(ctx context.Context, views []lens, do func()) {
	whole, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	for _, l := range views {
		must.Get(n.m.views.Create(whole, l.object(), metav1.CreateOptions{}))
		defer must.End(func() error {
			deleting, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
			defer cancel()
			return client.IgnoreNotFound(n.m.views.Delete(deleting, l.name, metav1.DeleteOptions{}))
		})
	}
	if err := must.Try(do); ctx.Err() == nil {
		must.Do(err)
	}
}

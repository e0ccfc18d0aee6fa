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

// disturbance is what goes on beside a neighbour until ctx ends. It takes away what it
// made, and says how much there was of it.
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

// comesAndGoes has a view of everything made, followed and deleted, again and again.
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

// costly takes nearly what an expression may cost on one object.
var costly = "[" + strings.TrimSuffix(strings.Repeat("1,", 900), ",") + "].map(i,[i,i,i,i,i,i]).map(i,i.map(j,j+1)).all(i,i.all(j,j>0))"

// costs has a view of everything judged by an expression that costs as much as it may.
func (n *neighbour) costs(ctx context.Context) (took string) {
	const metricName = "graphview_expression_cost_total"
	before := metric(ctx, n.m.MetricsURL(), metricName)
	var after float64
	n.with(ctx, []lens{{name: "costly", only: costly}}, func() {
		<-ctx.Done()
		after = metric(context.WithoutCancel(ctx), n.m.MetricsURL(), metricName)
	})
	if after-before < 1e6 {
		must.Do(errors.New("it was not judged"))
	}
	return fmt.Sprintf(" (%.0f M units in all)", (after-before)/1e6)
}

// replays has views of everything made at once and deleted when they have synced, again
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

// amongMany has many views made, a tenth of them of everything, and beside them others made
// and deleted when they have synced, again and again.
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

// ready waits until so many views are ready, no more and no fewer.
func (n *neighbour) ready(ctx context.Context, views int) {
	until(ctx, n.m, func() bool {
		return metric(ctx, n.m.MetricsURL(), "graphview_views", "state", "ready") == float64(views)
	})
}

// with does something while there are views, and deletes them. That ctx ends meanwhile
// is no error.
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

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// disturbance is what goes on beside a neighbour until ctx ends. It takes away what it
// made, and says how much there was of it.
type disturbance struct {
	name string
	run  func(ctx context.Context) (took string, err error)
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
func (n *neighbour) comesAndGoes(ctx context.Context) (took string, err error) {
	times := 0
	for ctx.Err() == nil {
		large := lens{name: fmt.Sprintf("large-%d", times)}
		if err := n.with(ctx, []lens{large}, func() error { return n.fillOnce(ctx, large) }); err != nil {
			return "", err
		}
		if ctx.Err() == nil {
			times++
		}
	}
	return fmt.Sprintf(" (%d times)", times), nil
}

// fillOnce follows a view until a subscriber has all of it.
func (n *neighbour) fillOnce(ctx context.Context, l lens) error {
	conn, err := n.m.dialer.dial(ctx, l, "")
	if err != nil {
		return err
	}
	defer closeAll(closable(conn))
	_, err = follow(ctx, conn, func([]byte) error { return nil })
	return err
}

// costly takes nearly what an expression may cost on one object.
var costly = "[" + strings.TrimSuffix(strings.Repeat("1,", 900), ",") + "].map(i,[i,i,i,i,i,i]).map(i,i.map(j,j+1)).all(i,i.all(j,j>0))"

// costs has a view of everything judged by an expression that costs as much as it may.
func (n *neighbour) costs(ctx context.Context) (took string, err error) {
	const metricName = "graphview_expression_cost_total"
	before, err := metric(ctx, n.m.MetricsURL(), metricName)
	if err != nil {
		return "", err
	}
	var after float64
	err = n.with(ctx, []lens{{name: "costly", only: costly}}, func() error {
		<-ctx.Done()
		after, err = metric(context.WithoutCancel(ctx), n.m.MetricsURL(), metricName)
		return err
	})
	if err == nil && after-before < 1e6 {
		err = errors.New("it was not judged")
	}
	return fmt.Sprintf(" (%.0f M units in all)", (after-before)/1e6), err
}

// replays has views of everything made at once and deleted when they have synced, again
// and again.
func (n *neighbour) replays(ctx context.Context) (took string, err error) {
	times := 0
	for ctx.Err() == nil {
		views := make([]lens, replaysAtOnce)
		for i := range views {
			views[i].name = fmt.Sprintf("replay-%d-%d", times, i)
		}
		if err := n.with(ctx, views, func() error { return n.ready(ctx, 1+replaysAtOnce) }); err != nil {
			return "", err
		}
		if ctx.Err() == nil {
			times++
		}
		if err := n.ready(ctx, 1); err != nil && ctx.Err() == nil {
			return "", err
		}
	}
	return fmt.Sprintf(" (%d times to the end)", times), nil
}

// amongMany has many views made, a tenth of them of everything, and beside them others made
// and deleted when they have synced, again and again.
func (n *neighbour) amongMany(ctx context.Context) (took string, err error) {
	many := make([]lens, standing)
	for i := range many {
		many[i] = lens{name: fmt.Sprintf("standing-%d", i), namespace: shape{}.namespace(i % 10)}
		if i%10 == 0 {
			many[i].namespace = ""
		}
	}
	times := 0
	err = n.with(ctx, many, func() error {
		if err := n.ready(ctx, 1+standing); err != nil {
			return err
		}
		for ctx.Err() == nil {
			views := []lens{{name: fmt.Sprintf("guest-%d", times)}}
			for i := range smallAtOnce {
				views = append(views, lens{name: fmt.Sprintf("guest-%d-%d", times, i), namespace: shape{}.namespace(i % 10)})
			}
			if err := n.with(ctx, views, func() error { return n.ready(ctx, 1+standing+len(views)) }); err != nil {
				return err
			}
			if err := n.ready(ctx, 1+standing); err != nil {
				return err
			}
			times++
		}
		return nil
	})
	return fmt.Sprintf(" (%d times)", times), err
}

// ready waits until so many views are ready, no more and no fewer.
func (n *neighbour) ready(ctx context.Context, views int) error {
	for {
		var text strings.Builder
		if err := fetch(ctx, http.MethodGet, n.m.MetricsURL(), &text); err != nil {
			return err
		}
		there, err := sumOf(text.String(), func(series string) bool { return series == `graphview_views{state="ready"}` })
		if err != nil || int(there) == views {
			return err
		}
		if err := errors.Join(n.m.Exited(), wait(ctx, 5*patience)); err != nil {
			return err
		}
	}
}

// with does something while there are views, and deletes them. That ctx ends meanwhile
// is no error.
func (n *neighbour) with(ctx context.Context, views []lens, do func() error) (err error) {
	whole, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	for _, l := range views {
		object, err := l.object()
		if err != nil {
			return err
		}
		if _, err := n.m.views.Create(whole, object, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create a view: %w", err)
		}
		defer func() {
			deleting, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
			defer cancel()
			if gone := n.m.views.Delete(deleting, l.name, metav1.DeleteOptions{}); gone != nil && !apierrors.IsNotFound(gone) {
				err = errors.Join(err, fmt.Errorf("delete a view: %w", gone))
			}
		}()
	}
	if err = do(); ctx.Err() != nil {
		return nil
	}
	return err
}

// closable is a list of one.
func closable(conn *websocket.Conn) []*websocket.Conn { return []*websocket.Conn{conn} }

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"
	"k8s.io/client-go/rest"
)

// statusSettles is longer than the operator waits between two writes of a status.
const statusSettles = 10 * time.Second

// idle measures row 12: what the operator does when nothing happens.
func idle(ctx context.Context, b *bench) (lines []line, err error) {
	period := 3 * b.period
	m, err := b.managers.start(ctx, whole)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.end(ctx)) }()
	conn, _, err := m.followed(ctx)
	if err != nil {
		return nil, err
	}
	a := listen(ctx, []*websocket.Conn{conn}, 1, sequenceMark)
	defer a.leave()
	// Status is written once more, and garbage is given back.
	if err := wait(ctx, max(b.settle, statusSettles)); err != nil {
		return nil, err
	}
	listed, err := lists(ctx, b.plane.Config())
	if err != nil {
		return nil, err
	}
	before, err := processorTime(pid(m))
	if err != nil {
		return nil, err
	}
	if err := wait(ctx, period); err != nil {
		return nil, err
	}
	after, err := processorTime(pid(m))
	if err != nil {
		return nil, err
	}
	again, err := lists(ctx, b.plane.Config())
	if err != nil {
		return nil, err
	}
	peer, err := b.child(ctx, "informers", b.settle, "-idle="+period.String())
	if err != nil {
		return nil, err
	}
	percent := func(v float64) string { return fmt.Sprintf("%.2f %% of a core", v) }
	return []line{
		{
			row: 12, what: fmt.Sprintf("idle for %s with one subscriber, bin/manager", period), goal: "≤ 0.5 % of a core",
			ours: single(100 * (after - before) / period.Seconds()), floor: nothing,
			peer: single(100 * peer.IdleProcessor / period.Seconds()), peerName: peers[0].name, format: percent, reached: within(0.5),
		},
		{
			row: 12, what: "lists of the view's resources that the API server answered meanwhile", goal: "none",
			ours: single(again - listed), floor: nothing, peer: nothing, format: count, reached: within(0),
		},
	}, nil
}

// lists is how many lists of the targets the API server has answered so far.
func lists(ctx context.Context, config *rest.Config) (float64, error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return 0, fmt.Errorf("client: %w", err)
	}
	defer client.CloseIdleConnections()
	var text strings.Builder
	if _, err := copyList(ctx, client, config.Host+"/metrics", &text); err != nil {
		return 0, err
	}
	return sumOf(text.String(), func(series string) bool {
		return strings.HasPrefix(series, "apiserver_request_total{") && strings.Contains(series, `verb="LIST"`) &&
			slices.ContainsFunc(targets, func(t target) bool {
				return strings.Contains(series, `resource="`+t.Resource+`"`) && strings.Contains(series, `group="`+t.Group+`"`)
			})
	})
}

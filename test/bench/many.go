package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// audienceSize and manyRate are what row 9 speaks of.
	audienceSize = 1000
	manyRate     = 1000
	// listenEvery subscriber the lateness is noted: to look at what a million
	// actions a second say would take the core that is measured.
	listenEvery = 20
)

// throng is what many subscribers of one view cost, for the seconds that events
// were played for.
type throng struct {
	processor, seconds, encodings, events float64
	messages, bytes                       float64
	p50, p99                              float64
	noted                                 int
}

// manySubscribers measures row 9.
func manySubscribers(ctx context.Context, b *bench) (lines []line, err error) {
	r, err := b.newReplay(ctx)
	if err != nil {
		return nil, err
	}
	defer r.close()
	few, err := b.crowd(ctx, r, audienceSize/100)
	if err != nil {
		return nil, err
	}
	all, err := b.crowd(ctx, r, audienceSize)
	if err != nil {
		return nil, err
	}
	fewer := fmt.Sprintf("%d subscribers", audienceSize/100)
	what := fmt.Sprintf("%d subscribers × %.0f events/s, jsonPath view, TLS: ", audienceSize, all.events/all.seconds)
	line9 := func(what, goal string, ours, peer float64, format func(float64) string, reached func(*line) bool) line {
		return line{row: 9, what: what, goal: goal, ours: single(ours), floor: nothing, peer: single(peer), peerName: fewer, format: format, reached: reached}
	}
	return []line{
		line9(what+"processor time of bin/manager", "≤ 1 core", all.processor/all.seconds, few.processor/few.seconds, cores, within(1)),
		line9(fmt.Sprintf("… event to subscriber, p50 (of %d noted)", all.noted), "", all.p50, few.p50, milliseconds, nil),
		line9("… p99", "≤ 100 ms", all.p99, few.p99, milliseconds, within(0.1)),
		line9("… encodings per event", "independent of subscribers", all.encodings/all.events, few.encodings/few.events, plain, within(1)),
		line9("… messages per subscriber and second", "", all.messages/all.seconds/audienceSize, few.messages/few.seconds/(audienceSize/100), plain, nil),
		line9("… bytes sent a second, all of them together", "", all.bytes/all.seconds, few.bytes/few.seconds, megabytes, nil),
	}, nil
}

// crowd runs the operator behind a replay and has n subscribers follow what is
// played.
func (b *bench) crowd(ctx context.Context, r *replay, n int) (t throng, err error) {
	m, err := b.managers.start(ctx, sequences, "--kubeconfig="+r.kubeconfig)
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, m.end(ctx)) }()
	first, rev, err := m.followed(ctx)
	if err != nil {
		return t, err
	}
	// The others continue where the first one is: to send all of them the whole
	// graph is not what is measured.
	conns, err := m.dialer.dialMany(ctx, n-1, sequences, rev)
	if err != nil {
		return t, err
	}
	a := listen(ctx, append(conns, first), min(listenEvery, max(n/10, 1)), `"j":["`)
	defer a.leave()
	// The first second is for warming up.
	if _, err := r.play(ctx, manyRate, manyRate, func(int) {}); err != nil {
		return t, err
	}
	return t, t.measure(ctx, m, r, a, int(b.period.Seconds()*manyRate))
}

// measure plays events and notes what they take.
func (t *throng) measure(ctx context.Context, m *running, r *replay, a *audience, events int) error {
	before, err := processorTime(pid(m))
	if err != nil {
		return err
	}
	encoded, err := metric(ctx, m.MetricsURL(), encodingsMetric)
	if err != nil {
		return err
	}
	messages, bytes := a.messages.Load(), a.bytes.Load()
	sent := make([]time.Time, events)
	number := *r.changes + 1
	a.expect(number, events)
	started := time.Now()
	if _, err := r.play(ctx, events, manyRate, func(n int) { sent[n-number] = time.Now() }); err != nil {
		return err
	}
	t.seconds, t.events = time.Since(started).Seconds(), float64(events)
	if err := a.awaitAll(ctx); err != nil {
		return err
	}
	after, err := processorTime(pid(m))
	if err != nil {
		return err
	}
	if t.encodings, err = metric(ctx, m.MetricsURL(), encodingsMetric); err != nil {
		return err
	}
	t.encodings -= encoded
	t.processor = after - before
	t.messages, t.bytes = float64(a.messages.Load()-messages), float64(a.bytes.Load()-bytes)
	late := a.late(func(n int) time.Time { return sent[n-number] })
	t.p50, t.p99, t.noted = percentile(late, 50), percentile(late, 99), len(late)
	return nil
}

// encodingsMetric counts what was encoded.
const encodingsMetric = "graphview_encodings_total"

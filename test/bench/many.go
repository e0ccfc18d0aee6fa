package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"graphview.dev/test/must"
)

// listeners is about how many subscribers of row 9 look for changes in their messages.
const listeners = 100

// throng is the cost of many subscribers of one view, for the seconds of the load.
type throng struct {
	processor, seconds, encodings, events float64
	// reading is the processor time of this process: of the subscribers and the replay.
	reading float64
	// idle is the memory of each subscriber before the load, and dialing the operator's processor time to open its stream.
	idle, dialing   float64
	messages, bytes float64
	p50, p99        float64
	noted           int
	even            []line
}

// manySubscribers measures row 9.
func manySubscribers(ctx context.Context, b *bench) (lines []line) {
	r := b.newReplay(ctx)
	defer r.close()
	few := b.crowd(ctx, r, b.audience/100)
	all := b.crowd(ctx, r, b.audience)
	fewer := fmt.Sprintf("%d subscribers", b.audience/100)
	what := fmt.Sprintf("%d subscribers × %.0f events/s, jsonPath view, TLS: ", b.audience, all.events/all.seconds)
	line9 := func(what, goal string, ours, peer float64, format func(float64) string, reached func(*line) bool) line {
		return line{row: 9, what: what, goal: goal, ours: single(ours), peer: single(peer), peerName: fewer, format: format, reached: reached}
	}
	return append([]line{
		line9(what+"processor time of bin/manager", "≤ 1 core", all.processor/all.seconds, few.processor/few.seconds, cores, within(1)),
		line9("… of the program that reads and replays", "", all.reading/all.seconds, few.reading/few.seconds, cores, nil),
		line9("… memory of each idle subscriber, resident", "", all.idle, few.idle, kilobytes, nil),
		line9("… processor time of bin/manager to open each stream", "", all.dialing, few.dialing, microseconds, nil),
		line9(fmt.Sprintf("… event to subscriber, p50 (of %d noted)", all.noted), "", all.p50, few.p50, milliseconds, nil),
		line9("… p99", "≤ 100 ms", all.p99, few.p99, milliseconds, within(0.1)),
		line9("… encodings per event", "independent of subscribers", all.encodings/all.events, few.encodings/few.events, plain, within(1)),
		line9("… messages per subscriber and second", "", all.messages/all.seconds/float64(b.audience), few.messages/few.seconds/float64(b.audience/100), plain, nil),
		line9("… bytes sent a second, all of them together", "", all.bytes/all.seconds, few.bytes/few.seconds, megabytes, nil),
	}, all.even...)
}

// crowd runs the operator behind a replay, with n subscribers.
func (b *bench) crowd(ctx context.Context, r *replay, n int) (t throng) {
	m := b.managers.start(ctx, sequences, "--kubeconfig="+r.kubeconfig)
	defer must.End(func() error { return m.end(ctx) })
	first, rev := m.followed(ctx)
	a := listen(max(n/listeners, 1), `"j":["`)
	defer a.leave()
	a.join(ctx, first)
	users := m.users(ctx, n-1)
	var before, after sample
	before.readMemory(m.PID())
	// The others continue at the revision of the first one, so that they get no whole graph, which
	// this row does not measure.
	t.dialing = spent(m.PID(), func() { a.dial(ctx, users, sequences, n-1, rev) }) / float64(n-1)
	after.readMemory(m.PID())
	t.idle = (float64(after.Resident) - float64(before.Resident)) / float64(n-1) // few may take less than was given back
	fmt.Fprintf(os.Stderr, "%d subscribers: %d MB resident\n", n, after.Resident/1e6)
	r.play(ctx, b.rate, b.rate, ignoreBegin) // the first second warms up
	events := int(b.period.Seconds() * float64(b.rate))
	encoded := m.metric(ctx, encodingsMetric)
	messages, bytes := a.messages.Load(), a.bytes.Load()
	sent, number := make([]time.Time, events), *r.changes+1
	a.expect(number, events)
	var level time.Duration
	b.besideBusy(func() {
		t.reading = spent(os.Getpid(), func() {
			t.processor = spent(m.PID(), func() {
				started := time.Now()
				r.play(ctx, events, b.rate, func(n int) { sent[n-number] = time.Now() })
				t.seconds, t.events = time.Since(started).Seconds(), float64(events)
				level = a.awaitAll(ctx)
			})
		})
	})
	t.encodings = m.metric(ctx, encodingsMetric) - encoded
	t.messages, t.bytes = float64(a.messages.Load()-messages), float64(a.bytes.Load()-bytes)
	began := func(n int) time.Time { return sent[n-number] }
	late := a.late(began)
	t.even = b.evenness(9, a, began, t.encodings/t.events, level)
	t.p50, t.p99, t.noted = percentile(late, 50), percentile(late, 99), len(late)
	if b.busy > 0 {
		t.even = append(t.even, b.recovered(ctx, 9, a, b.rate, func(n int, began func(n int)) { r.play(ctx, n, b.rate, began) }))
	}
	return t
}

// encodingsMetric counts the encodings of changes.
const encodingsMetric = "graphview_encodings_total"

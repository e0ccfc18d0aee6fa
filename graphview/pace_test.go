package graphview

import (
	"testing"
	"testing/synctest"
	"time"

	"graphview.dev/graphview/graph"
)

func TestGather(t *testing.T) {
	tests := map[string]struct {
		subscribers int64
		// every is when one more event comes, urgent which of them somebody waits
		// for, 0 for none.
		every     time.Duration
		urgent    int
		wantAfter time.Duration
		want      int
	}{
		"nobody listens":            {every: time.Millisecond, want: 1},
		"few listen":                {subscribers: 10, every: time.Millisecond, wantAfter: 550 * time.Microsecond, want: 1},
		"many listen":               {subscribers: 1000, every: 4 * time.Millisecond, wantAfter: 55 * time.Millisecond, want: 14},
		"very many listen":          {subscribers: 1_000_000, every: 9 * time.Millisecond, wantAfter: 55 * time.Millisecond, want: 7},
		"somebody waits":            {subscribers: 1000, every: 4 * time.Millisecond, urgent: 3, wantAfter: 8 * time.Millisecond, want: 3},
		"more than one batch holds": {subscribers: 1000, every: 10 * time.Microsecond, wantAfter: (maxBatch - 1) * 10 * time.Microsecond, want: maxBatch},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := &Engine{events: make(chan event), chunks: newChunks(), graph: graph.New()}
				start := time.Now()
				e.rested = start.Add(pace(test.subscribers))
				stop, done := make(chan struct{}), make(chan struct{})
				go func() {
					defer close(done)
					for n := 2; ; n++ {
						var ev event = funcEvent(func() {})
						if n == test.urgent {
							ev = &doEvent{}
						}
						select {
						case <-time.After(test.every):
						case <-stop:
							return
						}
						select {
						case e.events <- ev:
						case <-stop:
							return
						}
					}
				}()
				batch := e.gather(t.Context(), []event{funcEvent(func() {})}, nil)
				after := time.Since(start)
				close(stop)
				<-done
				if len(batch) != test.want || after != test.wantAfter {
					t.Errorf("%d events after %v, want %d after %v", len(batch), after, test.want, test.wantAfter)
				}
			})
		})
	}
}

// TestGatherBesideReplays: what is shown again puts no event off. What wakes subscribers
// waits until they have rested, and comes with the events.
func TestGatherBesideReplays(t *testing.T) {
	const rest = 55 * time.Millisecond
	for name, tt := range map[string]struct {
		events int
		want   int // with what joins, and who waits for that
	}{
		"with an event":    {events: 1, want: 3},
		"without an event": {want: 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e, _ := newStandingEngine(t)
				start := time.Now()
				e.rested = start.Add(rest)
				quiet, waking := &chunk{done: make(chan struct{})}, &chunk{wakes: true, done: make(chan struct{})}
				quiet.left = []event{funcEvent(func() {
					if tt.events > 0 {
						e.rested = start.Add(time.Hour) // as if it woke somebody
					}
				})}
				waking.left = []event{funcEvent(func() {})}
				e.chunks.put(waking)
				e.chunks.put(quiet)
				var batch []event
				for range tt.events {
					batch = append(batch, funcEvent(func() {}))
				}
				batch = e.gather(t.Context(), batch, nil)
				if after := time.Since(start); len(batch) != tt.want || after != rest {
					t.Errorf("%d events after %v, want %d after %v", len(batch), after, tt.want, rest)
				}
				<-quiet.done
				e.revise(batch, maxVisits)
				<-waking.done
			})
		})
	}
}

// TestGatherUrgentBesideReplays: what is shown again and wakes subscribers is not put off
// for longer than they rest, though somebody always waits for a batch and each wakes them.
func TestGatherUrgentBesideReplays(t *testing.T) {
	const rest, every = 55 * time.Millisecond, 10 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		e, _ := newStandingEngine(t)
		start := time.Now()
		e.chunks.put(&chunk{wakes: true, due: start.Add(rest), left: []event{funcEvent(func() {})}, done: make(chan struct{})})
		for range 10 {
			e.rested = time.Now().Add(rest) // as if the batch before woke somebody
			batch := e.gather(t.Context(), []event{&doEvent{fn: func() {}, done: make(chan struct{})}}, nil)
			after := time.Since(start)
			want := 1
			if after == 6*every {
				want = 3 // with what joins, and who waits for that
			}
			if len(batch) != want {
				t.Errorf("%d events after %v, want %d", len(batch), after, want)
			}
			time.Sleep(every)
		}
	})
}

// TestGatherLapse: the graph is told what time it is though there are always events.
func TestGatherLapse(t *testing.T) {
	e := &Engine{events: make(chan event, 2*maxBatch), chunks: newChunks(), graph: graph.New()}
	for range 2 * maxBatch {
		e.events <- funcEvent(func() {})
	}
	lapse := make(chan time.Time, 1)
	lapse <- time.Now()
	if batch := e.gather(t.Context(), nil, lapse); len(batch) != maxBatch || len(lapse) > 0 || len(e.events) != maxBatch+1 {
		t.Errorf("%d events, of which %d had waited; want %d with one that says what time it is", len(batch), 2*maxBatch-len(e.events), maxBatch)
	}
}

package graphview

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/plan"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/watch"
	"graphview.dev/test/configmaps"
)

// A refusal is one only while it lasts.
func TestRefusals(t *testing.T) {
	now := time.Now()
	tests := map[string]struct {
		namespace string
		resource  resources.Resource
		state     watch.State
		want      bool
		wantAgain time.Duration
	}{
		"refused for a moment":        {resource: podsResource, state: watch.State{Reason: watch.Forbidden, Since: now.Add(-time.Second)}, wantAgain: 4 * time.Second},
		"refused for longer":          {resource: podsResource, state: watch.State{Reason: watch.Forbidden, Since: now.Add(-time.Minute)}, want: true, wantAgain: time.Hour},
		"granted again":               {resource: podsResource, state: watch.State{Reason: watch.UpToDate, Synced: true}, wantAgain: time.Hour},
		"failing":                     {resource: podsResource, state: watch.State{Reason: watch.Failing, Since: now.Add(-time.Hour)}, wantAgain: time.Hour},
		"refused in one namespace":    {namespace: "a", resource: podsResource, state: watch.State{Reason: watch.Forbidden}, wantAgain: time.Hour},
		"refused and without another": {resource: resources.Resource{Version: "v1", Resource: "nodes", Kind: "Node"}, state: watch.State{Reason: watch.Forbidden}, wantAgain: time.Hour},
	}
	e := startEngine(t, Options{Config: configmaps.Serve(t, 0)})
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			of := feedIn(t, e, tt.resource, tt.state)
			n := plan.Need{Resource: tt.resource, Key: watch.Key{Namespace: tt.namespace}}
			taps := tapSet{needed: map[plan.Need]*tap{n: {need: n, feed: of}}}
			refused, again := taps.refused(now)
			if refused[tt.resource] != tt.want || again != tt.wantAgain {
				t.Errorf("refused %t, again in %s", refused[tt.resource], again)
			}
		})
	}
}

// TestGrantsWaitForAnAnswer: while the API server is asked, neither a renewal that is due nor a missing
// answer reconciles the view, until the answer is late.
func TestGrantsWaitForAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		permit := func(ctx context.Context, _ []access.Place) (map[access.Place]bool, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		g := newGrants(10*time.Second, time.Minute)
		g.setAccount(permit, "viewer")
		g.refresh(ctx, nil, time.Now())
		time.Sleep(10 * time.Second)
		g.refresh(ctx, nil, time.Now())
		time.Sleep(10 * time.Second)
		if again := g.refresh(ctx, nil, time.Now()); again <= 0 {
			t.Errorf("the view is reconciled again after %s while the API server is asked", again)
		}
		place := []access.Place{{Resource: "pods"}}
		for n := time.Duration(0); g.unanswered(time.Now()) == nil; n++ {
			if n > 1 {
				t.Fatal("the view is reconciled again and again before the answer is late")
			}
			time.Sleep(g.refresh(ctx, place, time.Now()))
		}
		cancel()
		g.wait()
	})
}

func TestGrants(t *testing.T) {
	red, blue := access.Place{Resource: "pods", Namespace: "red"}, access.Place{Resource: "pods", Namespace: "blue"}
	synctest.Test(t, func(t *testing.T) {
		asked := make(chan []access.Place, 10)
		reply := make(chan grantsResult)
		permit := func(ctx context.Context, places []access.Place) (map[access.Place]bool, error) {
			asked <- places
			select {
			case r := <-reply:
				return r.answers, r.err
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		g := newGrants(time.Minute, 10*time.Second)
		defer g.wait()
		defer cancel()
		g.setAccount(permit, "sa")
		take := func(answers map[access.Place]bool, err error) {
			t.Helper()
			reply <- grantsResult{answers: answers, err: err}
			g.store(<-g.results, time.Now())
		}
		wantAsked := func(n int) {
			t.Helper()
			synctest.Wait()
			select {
			case places := <-asked:
				if len(places) != n {
					t.Fatalf("asked about %v, want %d places", places, n)
				}
			default:
				if n > 0 {
					t.Fatal("not asked")
				}
			}
		}
		want := func(n int, places ...access.Place) {
			t.Helper()
			g.refresh(ctx, places, time.Now())
			wantAsked(n)
		}

		want(1, red)
		want(0, red) // one batch at a time
		take(map[access.Place]bool{red: true}, nil)
		want(0, red)
		want(1, red, blue) // only what is missing
		take(nil, errors.New("down"))
		if err := g.unanswered(time.Now()); err == nil || err.Error() != "down" {
			t.Errorf("unanswered: %v", err)
		}
		want(0, red, blue)
		time.Sleep(grantsRetry)
		want(1, red, blue)
		take(map[access.Place]bool{blue: false}, nil)
		if err := g.unanswered(time.Now()); err != nil || !g.answers[red] || g.answers[blue] {
			t.Errorf("answers %v, unanswered: %v", g.answers, err)
		}
		time.Sleep(time.Minute)
		want(2, red, blue) // all of them, again
		take(map[access.Place]bool{red: false, blue: true}, nil)
		if g.answers[red] || !g.answers[blue] {
			t.Errorf("answers %v", g.answers)
		}
		g.setAccount(permit, "another")
		if len(g.answers) != 0 {
			t.Errorf("another account has the answers of the one before: %v", g.answers)
		}
		want(1, red)
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if err := g.unanswered(time.Now()); err != nil {
			g.store(<-g.results, time.Now())
		}
		if err := g.unanswered(time.Now()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after a batch without any answer: %v", err)
		}
	})
}

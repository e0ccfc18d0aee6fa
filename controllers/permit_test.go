package controllers

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/graphview"
	"graphview.dev/graphview/access"
)

var viewer = graphview.Name{Namespace: "shop", Name: "viewer"}

// reviews is an API server that answers after a while.
type reviews struct {
	takes time.Duration
	asked atomic.Int64

	mu      sync.Mutex
	err     error
	allowed map[access.Question]bool // nil: everything
	who     user.Info
}

func (r *reviews) review(ctx context.Context, who user.Info, q access.Question) (bool, error) {
	r.asked.Add(1)
	select {
	case <-time.After(r.takes):
	case <-ctx.Done():
		return false, ctx.Err()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.who = who
	if r.err != nil {
		return false, r.err
	}
	return r.allowed == nil || r.allowed[q], nil
}

func (r *reviews) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
}

func podsIn(n int) []access.Place {
	places := make([]access.Place, n)
	for i := range places {
		places[i] = access.Place{Resource: "pods", Namespace: fmt.Sprint(i)}
	}
	return places
}

func TestPermitAsksAsServiceAccount(t *testing.T) {
	server := &reviews{allowed: map[access.Question]bool{
		{Verb: "list", Version: "*", Resource: "pods"}:                        true,
		{Verb: "list", Group: "apps", Version: "*", Resource: "deployments"}:  true,
		{Verb: "watch", Group: "apps", Version: "*", Resource: "deployments"}: true,
	}}
	p := newPermit(server.review, time.Minute)
	got, err := p.Allowed(t.Context(), viewer, []access.Place{{Resource: "pods"}, {Group: "apps", Resource: "deployments"}, {Resource: "secrets"}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[access.Place]bool{{Resource: "pods"}: false, {Group: "apps", Resource: "deployments"}: true, {Resource: "secrets"}: false}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if server.who.GetName() != "system:serviceaccount:shop:viewer" {
		t.Errorf("asked about %s", server.who.GetName())
	}
	if diff := cmp.Diff([]string{"system:serviceaccounts", "system:serviceaccounts:shop", "system:authenticated"}, server.who.GetGroups()); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
	// A resource that may not be listed is not asked about twice.
	if n := server.asked.Load(); n != 5 {
		t.Errorf("%d reviews, want 5", n)
	}
}

// Many views of one account, each of thousands of places, are asked about at once
// and in bounded time.
func TestPermitIsFast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &reviews{takes: 20 * time.Millisecond}
		p := newPermit(server.review, time.Minute)
		begin := time.Now()
		var views sync.WaitGroup
		for range 20 {
			views.Go(func() {
				if got, err := p.Allowed(t.Context(), viewer, podsIn(2000)); err != nil || len(got) != 2000 {
					t.Errorf("%d answers, %v", len(got), err)
				}
			})
		}
		views.Wait()
		if n := server.asked.Load(); n != 4000 {
			t.Errorf("%d reviews, want 4,000: one for each verb and place", n)
		}
		// 400 a second; one after the other it would be 80 s a view.
		if took := time.Since(begin); took > 12*time.Second {
			t.Errorf("took %s", took)
		}
	})
}

func TestPermitKeepsAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &reviews{}
		p := newPermit(server.review, time.Minute)
		ask := func() (map[access.Place]bool, error) { return p.Allowed(t.Context(), viewer, podsIn(1)) }
		steps := []struct {
			wait      time.Duration
			fail      error
			wantAsked bool
			want      int
		}{
			{wantAsked: true, want: 1},
			{wait: 20 * time.Second, want: 1},
			{wait: 20 * time.Second, wantAsked: true, want: 1},
			{wait: 2 * time.Minute, fail: errors.New("down"), wantAsked: true, want: 1},
			{wait: 2 * time.Minute, fail: errors.New("down"), wantAsked: true, want: 1},
			{wait: 2 * time.Minute, fail: errors.New("down"), wantAsked: true, want: 0},
			{wantAsked: true, want: 1},
		}
		for i, step := range steps {
			time.Sleep(step.wait)
			server.fail(step.fail)
			before := server.asked.Load()
			got, err := ask()
			if len(got) != step.want || (err != nil) != (step.want == 0) {
				t.Errorf("step %d: %v, %v", i, got, err)
			}
			if asked := server.asked.Load() > before; asked != step.wantAsked {
				t.Errorf("step %d: asked: %t", i, asked)
			}
		}
		time.Sleep(time.Hour)
		if _, err := p.Allowed(t.Context(), graphview.Name{Namespace: "other", Name: "a"}, podsIn(1)); err != nil {
			t.Fatal(err)
		}
		if len(p.accounts) != 1 {
			t.Errorf("%d accounts are remembered, want the one that is in use", len(p.accounts))
		}
	})
}

// TestKnownDoesNotWait: while an account has a question under way, what is known of it is returned, and what is
// not is part of the next questions.
func TestKnownDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck, place := make(chan struct{}), access.Place{Resource: "namespaces"}
		p := newPermit(func(ctx context.Context, _ user.Info, _ access.Question) (bool, error) {
			<-stuck
			return true, ctx.Err()
		}, time.Minute)
		var asking sync.WaitGroup
		asking.Go(func() { _, _ = p.Allowed(t.Context(), viewer, podsIn(1)) })
		synctest.Wait()
		if _, known := p.Known(viewer, place); known {
			t.Error("it is known before it was asked")
		}
		close(stuck)
		asking.Wait()
		if _, err := p.Allowed(t.Context(), viewer, podsIn(1)); err != nil {
			t.Fatal(err)
		}
		if allowed, known := p.Known(viewer, place); !allowed || !known {
			t.Errorf("allowed: %t, known: %t", allowed, known)
		}
	})
}

// The answers of a batch that times out are kept: the next batch asks only for the rest.
func TestPermitKeepsAnswersOfATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPermit((&reviews{}).review, time.Hour)
		places := podsIn(2000)
		batches := 0
		for ; batches < 20; batches++ {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			got, err := p.Allowed(ctx, viewer, places)
			cancel()
			if err == nil && len(got) == len(places) {
				break
			}
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
		}
		// 4,000 reviews, 400 at once and 400 a second.
		if batches < 7 || batches > 11 {
			t.Errorf("%d batches of a second", batches)
		}
	})
}

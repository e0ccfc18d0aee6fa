package access

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
)

var ann, ben = &user.DefaultInfo{Name: "ann"}, &user.DefaultInfo{Name: "ben"}

func placesOf(n int) []Place {
	places := make([]Place, n)
	for i := range places {
		places[i] = Place{Resource: "pods", Namespace: fmt.Sprint(i)}
	}
	return places
}

func TestWatchable(t *testing.T) {
	tests := map[string]struct {
		review    Review
		wantAsked []string
		want      map[Place]bool
	}{
		"both verbs": {
			review:    func(context.Context, user.Info, Question) (bool, error) { return true, nil },
			wantAsked: []string{"list", "watch"},
			want:      map[Place]bool{{Resource: "pods"}: true},
		},
		"no list: watch is not asked": {
			review:    func(context.Context, user.Info, Question) (bool, error) { return false, nil },
			wantAsked: []string{"list"},
			want:      map[Place]bool{{Resource: "pods"}: false},
		},
		"list alone": {
			review:    func(_ context.Context, _ user.Info, q Question) (bool, error) { return q.Verb == "list", nil },
			wantAsked: []string{"list", "watch"},
			want:      map[Place]bool{{Resource: "pods"}: false},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var asked []string
			a := New(Options{Review: func(ctx context.Context, who user.Info, q Question) (bool, error) {
				asked = append(asked, q.Verb)
				return tt.review(ctx, who, q)
			}})
			got, err := a.Watchable(t.Context(), ann, []Place{{Resource: "pods"}})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.wantAsked, asked); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
		})
	}
}

// A batch is as fast as the rate allows and not as slow as one review after the
// other.
func TestBatchIsParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int64
		a := New(Options{PerSecond: 1000, Review: func(context.Context, user.Info, Question) (bool, error) {
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			time.Sleep(10 * time.Millisecond)
			return true, nil
		}})
		begin := time.Now()
		answers, err := a.Watchable(t.Context(), ann, placesOf(2000))
		if err != nil || len(answers) != 2000 {
			t.Fatalf("%d answers, %v", len(answers), err)
		}
		// 4,000 reviews, 1,000 of them at once: three seconds.
		if took := time.Since(begin); took > 4*time.Second {
			t.Errorf("took %s", took)
		}
		if got := most.Load(); got > 16 {
			t.Errorf("%d at once", got)
		}
		if a.queue.Waiting() != 0 {
			t.Error("questions wait after the last answer")
		}
	})
}

// An owner with many questions delays only itself, even with many batches at the same time.
func TestOwnersTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := New(Options{PerSecond: 100, Review: func(context.Context, user.Info, Question) (bool, error) {
			time.Sleep(time.Millisecond)
			return true, nil
		}})
		ctx, cancel := context.WithCancel(t.Context())
		var batches sync.WaitGroup
		for range 20 {
			batches.Go(func() { _, _ = a.Watchable(ctx, ann, placesOf(500)) })
		}
		time.Sleep(5 * time.Second) // what was allowed at once is used up
		begin := time.Now()
		if _, err := a.Watchable(ctx, ben, placesOf(10)); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took > time.Second {
			t.Errorf("20 questions beside 19,000 of somebody else took %s", took)
		}
		cancel()
		batches.Wait()
		if a.queue.Waiting() != 0 {
			t.Error("somebody waits who gave up")
		}
	})
}

// The ServiceAccounts of a namespace have the questions of one owner under way.
func TestServiceAccountsShareTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int64
		a := New(Options{AtOnce: 4, Review: func(context.Context, user.Info, Question) (bool, error) {
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			time.Sleep(time.Second)
			return true, nil
		}})
		var asked sync.WaitGroup
		for n := range 20 {
			asked.Go(func() {
				account := &user.DefaultInfo{Name: serviceaccount.MakeUsername("shop", fmt.Sprint(n))}
				if _, err := a.Ask(t.Context(), account, Question{Verb: "list", Resource: "pods"}); err != nil {
					t.Error(err)
				}
			})
		}
		asked.Wait()
		if got := most.Load(); got != 4 {
			t.Errorf("%d questions at once, want 4", got)
		}
	})
}

func TestAskIsPatient(t *testing.T) {
	refused := apierrors.NewForbidden(schema.GroupResource{Resource: "subjectaccessreviews"}, "", errors.New("no"))
	tests := map[string]struct {
		errs         []error
		hang         bool
		wantAttempts int
		wantErr      error
	}{
		"a restart is waited out": {errs: []error{errors.New("refused"), errors.New("refused"), nil}, wantAttempts: 3},
		"an outage ends":          {errs: slices.Repeat([]error{errors.ErrUnsupported}, 9), wantAttempts: 6, wantErr: errors.ErrUnsupported},
		"a refusal is final":      {errs: []error{refused, nil}, wantAttempts: 1, wantErr: refused},
		"no answer at all":        {hang: true, wantAttempts: 6, wantErr: context.DeadlineExceeded},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				attempts, reviewed := 0, 0
				a := New(Options{
					Reviewed: func(bool, error) { reviewed++ },
					Review: func(ctx context.Context, _ user.Info, _ Question) (bool, error) {
						attempts++
						if tt.hang {
							<-ctx.Done()
							return false, ctx.Err()
						}
						return tt.errs[attempts-1] == nil, tt.errs[attempts-1]
					},
				})
				may, err := a.Ask(t.Context(), ann, Question{Verb: "list", Resource: "pods"})
				if !errors.Is(err, tt.wantErr) || may != (tt.wantErr == nil) {
					t.Errorf("got %t, %v, want error %v", may, err, tt.wantErr)
				}
				if attempts != tt.wantAttempts || reviewed != attempts {
					t.Errorf("%d attempts, %d of them noted, want %d", attempts, reviewed, tt.wantAttempts)
				}
			})
		})
	}
}

// Answers of a batch are kept if other questions of it fail.
func TestBatchEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := New(Options{PerSecond: 100, AtOnce: 4, Review: func(context.Context, user.Info, Question) (bool, error) { return false, nil }})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		answers, err := a.Watchable(ctx, ann, placesOf(1000))
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if n := len(answers); n < 150 || n > 250 {
			t.Errorf("%d answers in a second, want some 200", n)
		}
	})
}

func TestSubjectAccessReview(t *testing.T) {
	who := &user.DefaultInfo{Name: "ann", UID: "7", Groups: []string{"g"}, Extra: map[string][]string{"k": {"v"}}}
	subject := authorizationv1.SubjectAccessReviewSpec{
		User: "ann", UID: "7", Groups: []string{"g"}, Extra: map[string]authorizationv1.ExtraValue{"k": {"v"}},
	}
	tests := map[string]struct {
		q        Question
		want     string
		wantPath *authorizationv1.NonResourceAttributes
		wantOf   *authorizationv1.ResourceAttributes
	}{
		"resource": {
			Question{Verb: "list", Group: "apps", Version: "*", Resource: "deployments", Namespace: "n"}, "list deployments.apps", nil,
			&authorizationv1.ResourceAttributes{Verb: "list", Group: "apps", Version: "*", Resource: "deployments", Namespace: "n"},
		},
		"core": {
			Question{Verb: "get", Resource: "pods", Subresource: "log", Name: "p"}, "get pods", nil,
			&authorizationv1.ResourceAttributes{Verb: "get", Resource: "pods", Subresource: "log", Name: "p"},
		},
		"field selector": {
			Question{Verb: "list", Resource: "pods", FieldSelector: "a=b"}, "list pods", nil,
			&authorizationv1.ResourceAttributes{Verb: "list", Resource: "pods", FieldSelector: &authorizationv1.FieldSelectorAttributes{RawSelector: "a=b"}},
		},
		"label selector": {
			Question{Verb: "list", Resource: "pods", LabelSelector: "a=b"}, "list pods", nil,
			&authorizationv1.ResourceAttributes{Verb: "list", Resource: "pods", LabelSelector: &authorizationv1.LabelSelectorAttributes{RawSelector: "a=b"}},
		},
		"path": {Question{Verb: "get", Path: "/metrics"}, "get /metrics", &authorizationv1.NonResourceAttributes{Verb: "get", Path: "/metrics"}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tt.q.String(); got != tt.want {
				t.Errorf("text %q, want %q", got, tt.want)
			}
			want := subject
			want.NonResourceAttributes, want.ResourceAttributes = tt.wantPath, tt.wantOf
			if diff := cmp.Diff(want, specOf(who, tt.q)); diff != "" {
				t.Errorf("review (-want +got):\n%s", diff)
			}
		})
	}
}

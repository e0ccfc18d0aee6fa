package rights

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/budget"
)

// authority is an API server that answers access reviews by rules. A rule is
// "user verb resource/namespace"; the namespace is empty for all namespaces.
type authority struct {
	mu    sync.Mutex
	rules map[string]bool
	down  error
	asked []string
}

func newAuthority(rules ...string) *authority {
	a := &authority{rules: map[string]bool{}}
	a.set(true, rules...)
	return a
}

func (a *authority) set(allowed bool, rules ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, rule := range rules {
		a.rules[rule] = allowed
	}
}

func (a *authority) fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.down = err
}

func (a *authority) review(_ context.Context, who user.Info, q access.Question) (bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.down != nil {
		return false, a.down
	}
	rule := fmt.Sprintf("%s %s %s/%s", who.GetName(), q.Verb, q.Resource, q.Namespace)
	a.asked = append(a.asked, rule)
	return a.rules[rule], nil
}

// questions returns what was asked since the last call, sorted.
func (a *authority) questions() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	asked := a.asked
	a.asked = nil
	slices.Sort(asked)
	return asked
}

var errDown = errors.New("connection refused")

func named(name string) user.Info { return &user.DefaultInfo{Name: name} }

var web = view{Namespace: "shop", Name: "web"}

// start returns permissions that ask the authority. It does not run the recheck loop.
func (a *authority) start() *Permissions { return a.startWith(nil) }

func (a *authority) startWith(ledger *budget.Ledger) *Permissions {
	return New(optionsOf(a.review, ledger))
}

// The limits of these tests, in questions a second and time.
const (
	urgentPerSecond = 1000
	calmPerSecond   = 400
	keepFor         = 10 * time.Minute
)

func optionsOf(review access.Review, ledger *budget.Ledger) Options {
	return Options{
		Urgent:   access.New(access.Options{Review: review, PerSecond: urgentPerSecond}),
		Calm:     access.New(access.Options{Review: review, PerSecond: calmPerSecond}),
		Interval: time.Minute, KeepFor: keepFor, Ledger: ledger,
	}
}

// view is the use of a lease.
type view struct{ Namespace, Name string }

// roomFor returns a ledger in which one owner alone has room for so many identities.
func roomFor(identities int) *budget.Ledger {
	return budget.NewLedger(2 * int64(identities) * identityBytes)
}

// take acquires a lease. The context is done when the lease's stream is ended.
func take(t *testing.T, p *Permissions, who string, view view, on Terms) (*Lease, context.Context) {
	t.Helper()
	ctx, end := context.WithCancelCause(t.Context())
	t.Cleanup(func() { end(nil) })
	on.End = end
	return p.Acquire(t.Context(), named(who), view, on), ctx
}

func resolve(t *testing.T, l *Lease, places ...access.Place) {
	t.Helper()
	if err := l.Resolve(t.Context(), places); err != nil {
		t.Fatal(err)
	}
}

func allowed(t *testing.T, l *Lease, p access.Place) bool {
	t.Helper()
	allowed, known := l.Rights().Allowed(p)
	if !known {
		t.Errorf("%v is not known", p)
	}
	return allowed
}

func TestResolveAsks(t *testing.T) {
	a := newAuthority("ann list pods/red", "ann watch pods/red", "ann list pods/blue", "ann list nodes/", "ann watch nodes/")
	p := a.start()
	l, _ := take(t, p, "ann", web, Terms{})
	defer l.Release()
	nodes := access.Place{Resource: "nodes"}
	resolve(t, l, podsRed, podsBlue, secretsRed, nodes)
	for place, want := range map[access.Place]bool{podsRed: true, podsBlue: false, secretsRed: false, nodes: true} {
		if got := allowed(t, l, place); got != want {
			t.Errorf("%v: %t", place, got)
		}
	}
	// The right to watch is not asked for without the right to list.
	want := []string{
		"ann list */", "ann list */blue", "ann list */red", "ann list nodes/", "ann list pods/", "ann list pods/blue", "ann list pods/red", "ann list secrets/", "ann list secrets/red",
		"ann watch nodes/", "ann watch pods/blue", "ann watch pods/red",
	}
	if diff := cmp.Diff(want, a.questions()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	resolve(t, l, podsRed, podsBlue, nodes)
	if asked := a.questions(); asked != nil {
		t.Errorf("asked again: %v", asked)
	}
}

// TestReviews counts the reviews that the rights to a view of 60 resources take, for the first
// graph and at each re-check.
func TestReviews(t *testing.T) {
	const resources = 60
	var wide, inRed []access.Place
	var reader, viewer []string
	for n := range resources {
		resource := "resource" + strconv.Itoa(n)
		wide = append(wide, access.Place{Group: "apps", Resource: resource})
		inRed = append(inRed, access.Place{Group: "apps", Resource: resource, Namespace: "red"})
		reader = append(reader, "ann list "+resource+"/", "ann watch "+resource+"/")
		viewer = append(viewer, "ann list "+resource+"/red", "ann watch "+resource+"/red")
	}
	for name, test := range map[string]struct {
		rules  []string
		places []access.Place
		want   int
	}{
		"everything":                       {rules: []string{"ann list */", "ann watch */"}, places: wide, want: 2},
		"everything, of one namespace":     {rules: []string{"ann list */", "ann watch */"}, places: inRed, want: 2},
		"all of a namespace":               {rules: []string{"ann list */red", "ann watch */red"}, places: inRed, want: 1 + resources + 2},
		"each resource":                    {rules: reader, places: wide, want: 1 + 2*resources},
		"each resource of a namespace":     {rules: viewer, places: inRed, want: 1 + resources + 1 + 2*resources},
		"list everything, watch resources": {rules: append([]string{"ann list */"}, reader...), places: wide, want: 2 + 2*resources},
		"nothing":                          {places: inRed, want: 1 + resources + 1 + resources},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAuthority(test.rules...)
				p := a.start()
				l, _ := take(t, p, "ann", web, Terms{})
				defer l.Release()
				resolve(t, l, test.places...)
				for _, place := range test.places {
					if allowed(t, l, place) != (len(test.rules) > 0) {
						t.Errorf("%v", place)
					}
				}
				first := len(a.questions())
				defer runLoop(t, p)()
				time.Sleep(time.Minute + time.Second)
				if again := len(a.questions()); first != test.want || again != test.want {
					t.Errorf("%d reviews for the first graph, %d for a re-check, want %d", first, again, test.want)
				}
			})
		})
	}
}

// TestResolveIsShared: streams of one identity that open at once ask once.
func TestResolveIsShared(t *testing.T) {
	a := newAuthority("ann list pods/", "ann watch pods/")
	p := a.start()
	other := view{Namespace: "shop", Name: "other"}
	var all sync.WaitGroup
	digests := make([]string, 50)
	for n := range digests {
		view := web
		if n%2 == 1 {
			view = other
		}
		l, _ := take(t, p, "ann", view, Terms{})
		all.Go(func() {
			defer l.Release()
			resolve(t, l, podsRed, podsBlue)
			digests[n] = l.Rights().Digest()
		})
	}
	all.Wait()
	if diff := cmp.Diff([]string{"ann list */", "ann list pods/", "ann watch pods/"}, a.questions()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if len(unique(digests)) != 1 {
		t.Errorf("digests %v", digests)
	}
}

// TestDigests: a view's reviews do not change the digest of another view, and users with
// equal rights have equal digests.
func TestDigests(t *testing.T) {
	a := newAuthority("ann list pods/", "ann watch pods/", "bob list pods/", "bob watch pods/")
	p := a.start()
	ann, _ := take(t, p, "ann", web, Terms{})
	elsewhere, _ := take(t, p, "ann", view{Namespace: "shop", Name: "other"}, Terms{})
	bob, _ := take(t, p, "bob", web, Terms{})
	cat, _ := take(t, p, "cat", web, Terms{})
	for _, l := range []*Lease{ann, elsewhere, bob, cat} {
		t.Cleanup(l.Release)
		resolve(t, l, podsRed)
	}
	before := ann.Rights().Digest()
	resolve(t, elsewhere, secretsRed)
	if _, known := ann.Rights().Allowed(secretsRed); known || ann.Rights().Digest() != before {
		t.Error("another view's question is known here")
	}
	if bob.Rights().Digest() != before {
		t.Error("another digest for the same answers")
	}
	if cat.Rights().Digest() == before {
		t.Error("the same digest for other answers")
	}
}

func TestResolveWhileAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAuthority("ann list pods/", "ann watch pods/")
		p := a.start()
		l, _ := take(t, p, "ann", web, Terms{})
		defer l.Release()
		a.fail(errDown)
		// A short absence is waited out.
		time.AfterFunc(3*time.Second, func() { a.fail(nil) })
		resolve(t, l, podsRed)
		a.fail(errDown)
		if err := l.Resolve(t.Context(), []access.Place{secretsRed}); !errors.Is(err, errDown) {
			t.Errorf("%v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := l.Resolve(ctx, []access.Place{secretsRed}); ctx.Err() == nil || err == nil {
			t.Errorf("%v, %v", err, ctx.Err())
		}
		if _, known := l.Rights().Allowed(secretsRed); known || !allowed(t, l, podsRed) {
			t.Error("no answer counts as one, or took one away")
		}
	})
}

// TestResolveLosesNothing: a cancelled call keeps its answers, so that the next one asks less.
func TestResolveLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAuthority()
		p := a.start()
		l, _ := take(t, p, "ann", web, Terms{})
		defer l.Release()
		var many []access.Place
		for n := range 5 * urgentPerSecond {
			many = append(many, access.Place{Resource: "pods", Namespace: strconv.Itoa(n)})
		}
		for tries := 0; ; tries++ {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			err := l.Resolve(ctx, many)
			cancel()
			if err == nil {
				break
			}
			if ctx.Err() == nil || tries > 12 {
				t.Fatalf("after %d tries: %v", tries, err)
			}
		}
		if asked := len(a.questions()); asked != 2*len(many)+2 {
			t.Errorf("%d questions", asked)
		}
	})
}

// TestReturn: a stream that comes back finds its digest, and answers that have
// been asked again.
func TestReturn(t *testing.T) {
	tests := map[string]struct {
		after     time.Duration
		meanwhile func(*authority)
		wantSame  bool
		wantAsked bool
	}{
		"soon":           {after: 30 * time.Second, wantSame: true},
		"later":          {after: 9 * time.Minute, wantSame: true, wantAsked: true},
		"after too long": {after: 12 * time.Minute},
		"with less": {
			after: 2 * time.Minute, wantAsked: true,
			meanwhile: func(a *authority) { a.set(false, "ann watch pods/red") },
		},
		"while nobody answers": {
			after: 3 * time.Minute, wantSame: true,
			meanwhile: func(a *authority) { a.fail(errDown) },
		},
		"when nobody has answered for long": {
			after:     6 * time.Minute,
			meanwhile: func(a *authority) { a.fail(errDown) },
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAuthority("ann list pods/red", "ann watch pods/red")
				p := a.start()
				defer runLoop(t, p)()
				l, _ := take(t, p, "ann", web, Terms{})
				resolve(t, l, podsRed)
				digest := l.Rights().Digest()
				l.Release()
				a.questions()
				time.Sleep(test.after)
				if asked := a.questions(); asked != nil {
					t.Errorf("asked about nobody: %v", asked)
				}
				if test.meanwhile != nil {
					test.meanwhile(a)
				}
				l, _ = take(t, p, "ann", web, Terms{})
				defer l.Release()
				if same := l.Rights().Digest() == digest; same != test.wantSame {
					t.Errorf("same digest: %t", same)
				}
				if asked := len(a.questions()) > 0; asked != test.wantAsked {
					t.Errorf("asked again: %t", asked)
				}
			})
		})
	}
}

// TestForget: a view that is no longer open is not asked about for ever.
func TestForget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAuthority()
		p := a.start()
		defer runLoop(t, p)()
		stays, _ := take(t, p, "ann", web, Terms{})
		defer stays.Release()
		goes, _ := take(t, p, "ann", view{Namespace: "shop", Name: "other"}, Terms{})
		resolve(t, stays, pods)
		resolve(t, goes, pods, secrets)
		goes.Release()
		time.Sleep(keepFor + 2*time.Minute + time.Second)
		a.questions()
		time.Sleep(time.Minute)
		if diff := cmp.Diff([]string{"ann list */", "ann list pods/"}, a.questions()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

func TestIdleIdentitiesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newAuthority().start()
		held, _ := take(t, p, "held", web, Terms{})
		defer held.Release()
		for n := range maxIdle + 10 {
			l, _ := take(t, p, strconv.Itoa(n), web, Terms{})
			l.Release()
			time.Sleep(time.Millisecond)
		}
		_, oldest := p.identities[Key(named("9"))]
		_, young := p.identities[Key(named("10"))]
		_, inUse := p.identities[Key(named("held"))]
		if len(p.identities) != maxIdle+1 || oldest || !young || !inUse {
			t.Errorf("%d identities; %t, %t, %t", len(p.identities), oldest, young, inUse)
		}
	})
}

func TestKey(t *testing.T) {
	base := user.DefaultInfo{Name: "ann", UID: "1", Groups: []string{"a", "b"}, Extra: map[string][]string{"k": {"v"}}}
	key := Key(&base)
	if same := Key(&user.DefaultInfo{Name: "ann", UID: "1", Groups: []string{"b", "a", "b"}, Extra: map[string][]string{"k": {"v"}}}); same != key {
		t.Errorf("%s and %s", key, same)
	}
	for name, other := range map[string]user.DefaultInfo{
		"name":   {Name: "bob", UID: "1", Groups: base.Groups, Extra: base.Extra},
		"UID":    {Name: "ann", UID: "2", Groups: base.Groups, Extra: base.Extra},
		"groups": {Name: "ann", UID: "1", Groups: []string{"a b"}, Extra: base.Extra},
		"pod":    {Name: "ann", UID: "1", Groups: base.Groups, Extra: map[string][]string{"k": {"v"}, "authentication.kubernetes.io/pod-name": {"p"}}},
		"extra":  {Name: "ann", UID: "1", Groups: base.Groups, Extra: map[string][]string{"k": {"v", "w"}}},
		"quotes": {Name: `ann" "1`, Groups: base.Groups, Extra: base.Extra},
		"bytes":  {Name: "ann\xff", UID: "1", Groups: base.Groups, Extra: base.Extra},
		"others": {Name: "ann\xfe", UID: "1", Groups: base.Groups, Extra: base.Extra},
	} {
		if Key(&other) == key {
			t.Errorf("%s: the same key", name)
		}
	}
	if Key(named("\xff")) == Key(named("\xfe")) {
		t.Error("bytes that are no text are the same")
	}
}

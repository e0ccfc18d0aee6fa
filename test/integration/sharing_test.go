package integration

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/graphview"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/delivery"
	"graphview.dev/test/oracle"
)

// countDeletions counts the vertices that subscribers of a view are told to delete.
// stop ends the subscriptions and returns the count.
func countDeletions(t *testing.T, view *graphview.View) (stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	deleted := make(chan int)
	s := view.Subscribe(delivery.SubscribeOptions{})
	go func() {
		defer s.Close()
		n := 0
		for {
			frames, err := s.Next(ctx)
			for _, frame := range frames {
				n += bytes.Count(frame.Actions, []byte(`{"dvx":`))
			}
			if err != nil {
				deleted <- n
				return
			}
		}
	}()
	return func() int {
		cancel()
		return <-deleted
	}
}

// watchesBecome waits until the engine has this number of watches.
func watchesBecome(t *testing.T, e *graphview.Engine, when string, want int) {
	t.Helper()
	eventually(t, time.Minute, func() string {
		if got := e.Watches(); got != want {
			return fmt.Sprintf("%s: %d watches, want %d", when, got, want)
		}
		return ""
	})
}

// TestNamespacesShareAWatch: views of single namespaces share the cluster-wide watch if there
// is one, or if there are many such views. Their subscribers see no change when views move to
// it and back.
func TestNamespacesShareAWatch(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	namespaces := make([]string, 20)
	for i := range namespaces {
		namespaces[i] = newNamespace(t, c)
		createConfigMaps(t, c, namespaces[i], 2)
	}
	e := runEngine(t, graphview.Options{Linger: time.Second})
	var followers []*graphFollower
	var deletions []func() int
	declare := func(i int) {
		v := configMaps(namespaces[i])
		if i%2 == 1 {
			v.Queries[0].Include.Object.LabelSelector = "parity=1"
		}
		view := mustApply(t, e, fmt.Sprint("single", i), v)
		if i < 3 {
			followers = append(followers, follow(t.Context(), view))
			becomes(t, followers[i], v)
			deletions = append(deletions, countDeletions(t, view))
		}
	}
	everything := configMaps()
	everything.Namespaces = nil

	for i := range 3 {
		declare(i)
	}
	watchesBecome(t, e, "three views of single namespaces", 3)
	mustApply(t, e, "wide", everything)
	watchesBecome(t, e, "three beside one of everything", 1)
	for i := range 20 {
		if i >= 3 {
			declare(i)
		}
	}
	for i := range 20 {
		view, _ := e.View(graphview.Name{Namespace: "views", Name: fmt.Sprint("single", i)})
		if err := view.WaitSynced(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	watchesBecome(t, e, "twenty beside one of everything", 1)
	e.Remove(graphview.Name{Namespace: "views", Name: "wide"})
	mustApply(t, e, "more", configMaps(namespaces[19])) // a new view shares it too
	for i := 3; i < 20; i++ {
		e.Remove(graphview.Name{Namespace: "views", Name: fmt.Sprint("single", i)})
	}
	watchesBecome(t, e, "four alone", 4)

	// Without one of everything, many are enough. They share by labels, for which
	// the server has watches of its own.
	for i := range 3 {
		createMore(t, c, namespaces[i])
	}
	var odd []string
	for i := 3; i < 20; i++ {
		v := configMaps(namespaces[i])
		odd = append(odd, fmt.Sprint("again", i))
		mustApply(t, e, odd[len(odd)-1], v)
	}
	watchesBecome(t, e, "many", 1)
	for _, name := range odd {
		e.Remove(graphview.Name{Namespace: "views", Name: name})
	}
	watchesBecome(t, e, "four alone once more", 4)
	for i, stop := range deletions {
		v := configMaps(namespaces[i])
		if i%2 == 1 {
			v.Queries[0].Include.Object.LabelSelector = "parity=1"
		}
		becomes(t, followers[i], v)
		if n := stop(); n > 0 {
			t.Errorf("view %d: %d vertices were deleted, though nothing was", i, n)
		}
		if n := followers[i].Redundant(); n > 0 {
			t.Errorf("view %d: %d elements were sent again", i, n)
		}
	}
}

func createMore(t *testing.T, c client.Client, namespace string) {
	t.Helper()
	create(t, c, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "more", Labels: map[string]string{"parity": "1"}}})
}

// rightsAtRandom are those of accounts, which change.
type rightsAtRandom struct {
	mu      sync.Mutex
	allowed map[graphview.Name]map[string]bool // namespaces, "" for all
}

func (r *rightsAtRandom) review(_ context.Context, who user.Info, q access.Question) (bool, error) {
	namespace, name, err := serviceaccount.SplitUsername(who.GetName())
	if err != nil {
		return false, err
	}
	account := graphview.Name{Namespace: namespace, Name: name}
	r.mu.Lock()
	defer r.mu.Unlock()
	return q.Resource == "namespaces" || r.allowed[account][""] || q.Namespace != "" && r.allowed[account][q.Namespace], nil
}

func (r *rightsAtRandom) set(account graphview.Name, allowed map[string]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.allowed[account] = allowed
}

// TestSharedWatchesAtRandom: views of some namespaces, of all, and of an account's rights
// are created and deleted while objects and rights change, so that they move between
// watches all the time. Each ends with the graph of fresh lists, and never has objects of
// a namespace that is not its own.
func TestSharedWatchesAtRandom(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	namespaces := make([]string, 22)
	for i := range namespaces {
		namespaces[i] = newNamespace(t, c)
		createConfigMaps(t, c, namespaces[i], 2)
	}
	rights := &rightsAtRandom{allowed: make(map[graphview.Name]map[string]bool)}
	e := runEngine(t, graphview.Options{Linger: 50 * time.Millisecond, RightsInterval: 100 * time.Millisecond, Review: rights.review})
	r := rand.New(rand.NewPCG(15, 7))
	some := func(n int) []string {
		from := r.IntN(len(namespaces) - n)
		return namespaces[from : from+n]
	}
	all := func() oracle.View {
		v := configMaps(namespaces...)
		v.Namespaces.Names = nil
		v.Namespaces.ObjectSelectorExpression = fmt.Sprintf("name in ['%s', '%s']", namespaces[0], namespaces[1])
		return v
	}
	// The view of each account is followed all the time. It has the objects that the account may
	// read.
	type followed struct {
		name     graphview.Name
		names    []string
		follower *graphFollower
	}
	var views []followed
	for i := range 4 {
		account := graphview.Name{Namespace: namespaces[i], Name: "viewer"}
		names := some(3)
		allowed := setOfNames(names[:1])
		rights.set(account, allowed)
		spec := specOf(t, configMaps(names...))
		spec.ServiceAccountName = account.Name
		name := graphview.Name{Namespace: account.Namespace, Name: "view"}
		if err := e.Apply(t.Context(), name, "uid", spec); err != nil {
			t.Fatal(err)
		}
		view, _ := e.View(name)
		views = append(views, followed{account, names, follow(t.Context(), view)})
	}
	plain := configMaps(namespaces[0], namespaces[21])
	follower := follow(t.Context(), mustApply(t, e, "plain", plain))
	many := configMaps(namespaces[3:14]...)
	ofMany := follow(t.Context(), mustApply(t, e, "many", many))
	for round := range 6 {
		for range 40 {
			name := fmt.Sprint("at-random-", r.IntN(24))
			switch r.IntN(7) {
			case 6:
				mustApply(t, e, name, configMaps(some(9+r.IntN(4))...))
			case 0, 1:
				mustApply(t, e, name, configMaps(some(1+r.IntN(2))...))
			case 2:
				mustApply(t, e, name, all())
			case 3, 4:
				e.Remove(graphview.Name{Namespace: "views", Name: name})
			default:
				change(t, c, namespaces[r.IntN(len(namespaces))], r)
			}
		}
		for i, v := range views {
			allowed := setOfNames(v.names[:r.IntN(4)])
			if r.IntN(4) == 0 {
				allowed[""] = true
			}
			rights.set(v.name, allowed)
			want := slices.DeleteFunc(slices.Clone(v.names), func(name string) bool { return !allowed[name] && !allowed[""] })
			if len(want) == 0 {
				want = []string{"absent"}
			}
			becomes(t, v.follower, configMaps(want...))
			if t.Failed() {
				t.Fatalf("round %d, view %d", round, i)
			}
		}
		becomes(t, follower, plain)
		becomes(t, ofMany, many)
		if round%2 == 1 {
			from := r.IntN(10)
			many = configMaps(namespaces[from : from+12]...)
			mustApply(t, e, "many", many)
		}
	}
}

func setOfNames(names []string) map[string]bool {
	set := make(map[string]bool)
	for _, name := range names {
		set[name] = true
	}
	return set
}

// change changes one object of a namespace, or makes or deletes one.
func change(t *testing.T, c client.Client, namespace string, r *rand.Rand) {
	t.Helper()
	o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprint("c", r.IntN(4))}, Data: map[string]string{"at": fmt.Sprint(r.IntN(100))}}
	var err error
	if r.IntN(3) == 0 {
		err = c.Delete(t.Context(), o)
	} else if err = c.Create(t.Context(), o); err != nil {
		err = c.Update(t.Context(), o)
	}
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
}

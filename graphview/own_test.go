package graphview

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/intake"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/spec"
	"graphview.dev/test/configmaps"
)

// ownRights are rights that a test changes.
type ownRights struct {
	mu  sync.Mutex
	may map[access.Place]bool
}

func (o *ownRights) set(place access.Place, may bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.may[place] = may
}

func (o *ownRights) review(_ context.Context, _ user.Info, q access.Question) (bool, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.may[access.Place{Group: q.Group, Resource: q.Resource, Namespace: q.Namespace}], nil
}

// requests records the paths that a server is asked for.
type requests struct {
	next http.RoundTripper

	mu    sync.Mutex
	paths []string
}

func (r *requests) RoundTrip(request *http.Request) (*http.Response, error) {
	r.mu.Lock()
	r.paths = append(r.paths, request.URL.Path)
	r.mu.Unlock()
	return r.next.RoundTrip(request)
}

func (r *requests) contain(part string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.paths, func(path string) bool { return strings.Contains(path, part) })
}

// TestOwnDenied: a kind that may not be listed is not asked for and stays in the lens, also after the
// right was granted and revoked.
func TestOwnDenied(t *testing.T) {
	secrets := resources.Resource{Version: "v1", Resource: "secrets", Kind: "Secret", Namespaced: true}
	here := func(resource string) access.Place { return access.Place{Resource: resource, Namespace: "shop"} }
	own := &ownRights{may: map[access.Place]bool{here("configmaps"): true}}
	config := configmaps.Serve(t, 3)
	asked := &requests{next: config.Transport}
	config.Transport = asked
	e := startEngine(t, Options{Config: config, Own: person("me"), Review: own.review, RightsInterval: 20 * time.Millisecond})
	k := keepOf(t, e, Name{Namespace: "shop", Name: "own"}, configMapsResource, secrets)
	k.apply(v1alpha1.GraphViewSpec{
		Queries:    []v1alpha1.Query{{Include: &v1alpha1.Include{ResourceSelectorExpression: "true"}}},
		Namespaces: &v1alpha1.Namespaces{Names: []v1alpha1.NamespaceName{"shop"}},
	})
	k.until("the view is synced", k.view.synced)
	if got := k.view.lens.Vertices(); got != 3 {
		t.Errorf("%d vertices, want the ConfigMaps", got)
	}
	deniedOf := func(r resources.Resource) bool {
		w := delivery.Denied(intake.ResourceOf(r), true, "shop")
		return slices.Contains(k.view.warnings.Summary(true), w.Type+": "+w.Message)
	}
	unknown := graph.Coverage{Unknown: true}
	secretKind, configMapKind := intake.KindOf(secrets), intake.KindOf(configMapsResource)
	if !k.taps.coverage.denied[secretKind] || !k.taps.coverage.told[secretKind].Equal(unknown) || !deniedOf(secrets) {
		t.Errorf("mentioned %v, covered %v, warnings %q", k.taps.coverage.denied, k.taps.coverage.told, k.view.warnings.Summary(true))
	}
	if asked.contain("/secrets") {
		t.Error("secrets were asked for without the right")
	}

	own.set(here("configmaps"), false)
	k.until("the revoked kind is mentioned", func() bool { return k.taps.coverage.denied[configMapKind] && k.view.lens.Vertices() == 0 })
	if !k.taps.coverage.told[configMapKind].Equal(unknown) || !deniedOf(configMapsResource) {
		t.Errorf("covered %v, warnings %q", k.taps.coverage.told, k.view.warnings.Summary(true))
	}
	own.set(here("configmaps"), true)
	k.until("the granted kind is watched", func() bool {
		return !k.taps.coverage.denied[configMapKind] && k.view.lens.Vertices() == 3 && k.taps.coverage.told[configMapKind].Namespaces["shop"]
	})
	if deniedOf(configMapsResource) {
		t.Error("the warning remains after the grant")
	}
}

// TestOwnRightsFeedAllViews: Own feeds every view, also those of subscribers and of ServiceAccounts.
func TestOwnRightsFeedAllViews(t *testing.T) {
	e := startEngine(t, Options{Config: configmaps.Serve(t, 0), Own: person("me"), Review: (&ownRights{}).review})
	tests := map[string]struct {
		account    string
		subscriber user.Info
	}{
		"a view without an account":      {},
		"a view of a ServiceAccount":     {account: "viewer"},
		"an ad-hoc view of a subscriber": {subscriber: person("ann")},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := newView(e, Name{Namespace: "shop", Name: "own"}, "1")
			v.subscriber = tt.subscriber
			program, err := spec.Compile(t.Context(), nil, v1alpha1.GraphViewSpec{ServiceAccountName: tt.account, Queries: []v1alpha1.Query{{Include: &v1alpha1.Include{ResourceSelectorExpression: "true"}}}})
			if err != nil {
				t.Fatal(err)
			}
			if from, who, name := v.restrictedBy(program); from != e.rights || who != e.o.Own || name != "you" {
				t.Errorf("restricted by %q, the user %v", name, who)
			}
		})
	}
}

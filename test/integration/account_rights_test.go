package integration

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"graphview.dev/graphview"
	"graphview.dev/graphview/access"
	"graphview.dev/test/oracle"
)

// reviews counts the SubjectAccessReviews that go through it and are answered. An attempt that a busy API server refuses
// is repeated.
type reviews struct {
	mu                 sync.Mutex
	asked, now, atOnce int
}

func (r *reviews) count(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (response *http.Response, err error) {
		if !strings.HasSuffix(request.URL.Path, "/subjectaccessreviews") {
			return next.RoundTrip(request)
		}
		r.mu.Lock()
		r.now++
		r.atOnce = max(r.atOnce, r.now)
		r.mu.Unlock()
		defer func() {
			r.mu.Lock()
			r.now--
			if err == nil && response.StatusCode == http.StatusCreated {
				r.asked++
			}
			r.mu.Unlock()
		}()
		return next.RoundTrip(request)
	})
}

// runPermitted runs an engine that asks the API server what ServiceAccounts may read.
func runPermitted(t *testing.T, interval time.Duration) (*graphview.Engine, *reviews) {
	t.Helper()
	counted := &reviews{}
	config := rest.CopyConfig(cluster.Config())
	config.Wrap(counted.count)
	review, err := access.NewReview(config)
	if err != nil {
		t.Fatal(err)
	}
	return runEngine(t, graphview.Options{Review: review, RightsInterval: interval}), counted
}

// applyAs declares a view that a ServiceAccount of the namespace restricts.
func applyAs(t *testing.T, e *graphview.Engine, namespace, account, name string, v oracle.View) *graphview.View {
	t.Helper()
	spec := specOf(t, v)
	spec.ServiceAccountName = account
	n := graphview.Name{Namespace: namespace, Name: name}
	if err := e.Apply(t.Context(), n, "uid-"+name, spec); err != nil {
		t.Fatal(err)
	}
	view, _ := e.View(n)
	return view
}

// TestServiceAccountsRights: a view follows what roles and bindings let its
// ServiceAccount read, as they come and go.
func TestServiceAccountsRights(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	red, blue := newNamespace(t, c), newNamespace(t, c)
	createConfigMaps(t, c, red, 3)
	createConfigMaps(t, c, blue, 3)
	viewer := newPerson(t, red, "viewer")
	inRed := grant(t, c, viewer, red, rule("list watch", "configmaps"))
	engine, _ := runPermitted(t, time.Second)
	view := applyAs(t, engine, red, "viewer", "view", configMaps(red, blue))
	f := follow(t.Context(), view)
	becomes(t, f, configMaps(red))

	// A live graph needs the rights to list and to watch.
	grant(t, c, viewer, blue, rule("list get", "configmaps"))
	inBlue := grant(t, c, viewer, blue, rule("watch", "configmaps"))
	becomes(t, f, configMaps(red, blue))
	remove(t, c, inBlue)
	becomes(t, f, configMaps(red))
	saysUnread(t, view, blue)
	grant(t, c, viewer, blue, rule("watch", "configmaps"))
	remove(t, c, inRed)
	becomes(t, f, configMaps(blue))
	grant(t, c, viewer, "", rule("list watch", "*"))
	becomes(t, f, configMaps(red, blue))
}

// TestServiceAccountWithThousandsOfNamespaces: several views of an account that may read two
// of thousands of places ask about each place once, at once, and show what there is.
func TestServiceAccountWithThousandsOfNamespaces(t *testing.T) {
	const views, absent = 3, 148
	resources := []string{
		"configmaps", "secrets", "services", "pods", "serviceaccounts", "endpoints", "persistentvolumeclaims", "podtemplates",
		"replicationcontrollers", "resourcequotas", "limitranges", "deployments", "replicasets", "daemonsets", "statefulsets",
	}
	c := newClient(t)
	red, blue := newNamespace(t, c), newNamespace(t, c)
	createConfigMaps(t, c, red, 3)
	createConfigMaps(t, c, blue, 3)
	viewer := newPerson(t, red, "viewer")
	grant(t, c, viewer, red, rule("list watch", "configmaps"))
	grant(t, c, viewer, blue, rule("list watch", "configmaps"))
	names := []string{red, blue}
	for i := range absent {
		names = append(names, fmt.Sprint("absent-", i))
	}
	v := oracle.View{
		Queries: []oracle.Query{{Include: &oracle.Include{
			ResourceSelectorExpression: "group in ['', 'apps'] && resource in ['" + strings.Join(resources, "', '") + "']",
		}}},
		Namespaces: &oracle.Namespaces{Names: names},
	}
	// So long that nothing is asked again while this test lasts.
	engine, asked := runPermitted(t, time.Hour)
	var followers []*graphFollower
	for i := range views {
		followers = append(followers, follow(t.Context(), applyAs(t, engine, red, "viewer", fmt.Sprint("view-", i), v)))
	}
	for _, f := range followers {
		becomes(t, f, configMaps(red, blue))
	}
	if n := engine.Watches(); n != 2 {
		t.Errorf("%d watches, want one in each namespace that may be read", n)
	}
	asked.mu.Lock()
	defer asked.mu.Unlock()
	// About everything, everywhere, and in each namespace; about watching only where listing is allowed.
	places := (1 + len(resources)) * (1 + len(names))
	if least, most := places+2, places+places/10; asked.asked < least || asked.asked > most {
		t.Errorf("%d reviews for %d places, want between %d and %d", asked.asked, places, least, most)
	}
	if asked.atOnce < 2 {
		t.Error("the reviews were made one after the other")
	}
	t.Logf("%d reviews for %d places of %d views, %d at once", asked.asked, places, views, asked.atOnce)
}

package integration

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
	"graphview.dev/stream"
	"graphview.dev/test/oracle"
)

// rightsViews are views of two namespaces and of the cluster's storage classes.
func rightsViews(red, blue string) map[string]oracle.View {
	queries := []oracle.Query{{Include: &oracle.Include{ResourceSelectorExpression: "group in ['', 'apps'] && resource in " +
		"['pods', 'configmaps', 'secrets', 'services', 'deployments', 'replicasets', 'serviceaccounts', 'persistentvolumeclaims'] " +
		"|| resource == 'storageclasses'"}}}
	named := &oracle.Namespaces{Names: []string{red, blue}}
	return map[string]oracle.View{
		"named":    {Queries: queries, Namespaces: named},
		"selected": {Queries: queries, Namespaces: &oracle.Namespaces{LabelSelector: "rights=" + red}},
		// Roots are resolved before rights apply: a user that may not see the Deployment still sees
		// the objects that it leads to.
		"rooted": {
			Queries: queries, Namespaces: named,
			Roots: &oracle.Roots{ObjectSelectorExpressions: []string{"resource == 'deployments'"}, IgnoreArcDirection: []string{"or"}},
		},
	}
}

// rightsFixture serves the views of two furnished namespaces.
type rightsFixture struct {
	client    client.Client
	red, blue string
	views     map[string]oracle.View
	engine    *graphview.Engine
	server    *streamServer
}

func newRightsFixture(t *testing.T, change ...func(*stream.Options)) *rightsFixture {
	t.Helper()
	c := newClient(t)
	f := &rightsFixture{client: c, red: newNamespace(t, c), blue: newNamespace(t, c)}
	f.views = rightsViews(f.red, f.blue)
	class := newStorageClass(t, c)
	for _, namespace := range []string{f.red, f.blue} {
		furnish(t, c, namespace, class)
		if err := c.Patch(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
			client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"labels":{"rights":%q}}}`, f.red))); err != nil {
			t.Fatal(err)
		}
	}
	f.engine = runEngine(t, graphview.Options{})
	for name, view := range f.views {
		if err := f.engine.Apply(t.Context(), graphview.Name{Namespace: f.red, Name: name}, "uid-"+name, specOf(t, view)); err != nil {
			t.Fatal(err)
		}
	}
	f.server = startStream(t, c, stream.Of(f.engine), change...)
	return f
}

// whole returns the whole graph of a view.
func (f *rightsFixture) whole(t *testing.T, view string) oracle.Graph {
	t.Helper()
	return buildWhole(t, f.views[view])
}

// summaries is the same, with a summary of each object.
func (f *rightsFixture) summaries(t *testing.T, view string) oracle.Graph {
	t.Helper()
	v := f.views[view]
	v.Summaries = true
	return buildWhole(t, v)
}

func buildWhole(t *testing.T, v oracle.View) oracle.Graph {
	t.Helper()
	whole, err := oracle.Build(t.Context(), cluster.Config(), v)
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

// selected are the resources that a view selects.
func (f *rightsFixture) selected(view string) []v1alpha1.ResourceStatus {
	v, _ := f.engine.View(graphview.Name{Namespace: f.red, Name: view})
	return v.Status().Resources
}

// agrees says how what a follower has differs from what a user may see now.
func (f *rightsFixture) agrees(t *testing.T, got *graphFollower, view string, user *rest.Config) string {
	t.Helper()
	return f.shows(got, view, f.whole(t, view), newJudge(t, user))
}

// shows says how what a follower has differs from what a judge leaves of a view.
func (f *rightsFixture) shows(got *graphFollower, view string, whole oracle.Graph, j *judge) string {
	want, denied := j.leave(whole, f.selected(view), f.views[view].Namespaces.Names...)
	if diff := got.Differs(want); diff != "" {
		return diff
	}
	return cmp.Diff(denied, got.denials())
}

func (f *rightsFixture) path(kind, view string) string {
	base := "/apis/stream.graphview.dev/v1alpha1"
	if kind == "watch" {
		base += "/watch"
	}
	return base + "/namespaces/" + f.red + "/graphs/" + view
}

// matrix runs subtests until some of them have failed. There are hundreds of subtests, and a failing
// one waits for its full timeout.
type matrix struct {
	*testing.T

	failed int
}

func (m *matrix) run(name string, test func(*testing.T)) {
	m.Helper()
	if m.Run(name, test) {
		return
	}
	if m.failed++; m.failed == 3 {
		m.Fatal("three have failed: the rest is not run")
	}
}

// TestRightsMatrix: what each user sees, on each road and by each transport, is
// what the API server lets that user list and watch, and no more.
func TestRightsMatrix(t *testing.T) {
	f := newRightsFixture(t)
	aggregate(t, f.server)
	letAllConnect(t)
	c := f.client
	everything := "get list watch"
	people := map[string]*person{}
	for _, name := range []string{"viewer", "no-secrets", "one-resource", "lists-only", "nobody"} {
		people[name] = newPerson(t, f.red, name)
		grant(t, c, people[name], f.red, graphRule(everything))
	}
	people["admin"] = newPerson(t, f.red, "admin", "system:masters")
	grant(t, c, people["admin"], "", rule("*", "*"))
	grant(t, c, people["viewer"], f.red, rule(everything, "*"))
	grant(t, c, people["no-secrets"], "", rule(everything,
		"pods", "configmaps", "services", "deployments", "replicasets", "serviceaccounts", "persistentvolumeclaims", "storageclasses"))
	grant(t, c, people["one-resource"], "", rule(everything, "pods"))
	// To list is not enough, nor is one verb everywhere and one here.
	grant(t, c, people["lists-only"], "", rule("list", "configmaps", "services"), rule("watch", "pods", "secrets"))
	grant(t, c, people["lists-only"], f.blue, rule("watch", "services"), rule("list watch", "secrets"))

	m := &matrix{T: t}
	f.rest(t)
	wholes, summaries := map[string]oracle.Graph{}, map[string]oracle.Graph{}
	for view := range f.views {
		wholes[view], summaries[view] = f.whole(t, view), f.summaries(t, view)
	}
	events := http.Header{"Accept": {"text/event-stream"}}
	for name, p := range people {
		anonymous := rest.AnonymousClientConfig(p.token)
		browser := "base64url.bearer.authorization.k8s.io." + base64.RawURLEncoding.EncodeToString([]byte(p.token.BearerToken))
		byCertificate, byToken := ownPort(t, f.server, p.certificate), ownPort(t, f.server, p.token)
		aggregated, aggregatedToken := throughAPIServer(t, p.certificate), throughAPIServer(t, p.token)
		judges := map[*rest.Config]*judge{p.certificate: newJudge(t, p.certificate), p.token: newJudge(t, p.token)}
		for view := range f.views {
			watch, get := f.path("watch", view), f.path("get", view)
			for how, transport := range map[string]struct {
				user *rest.Config
				open func(*testing.T, context.Context) *graphFollower
			}{
				"own port, certificate, WebSocket": {p.certificate, func(t *testing.T, ctx context.Context) *graphFollower {
					return followSocket(t, ctx, byCertificate, watch)
				}},
				"own port, token, WebSocket": {p.token, func(t *testing.T, ctx context.Context) *graphFollower {
					return followSocket(t, ctx, byToken, watch)
				}},
				"own port, browser, WebSocket": {p.token, func(t *testing.T, ctx context.Context) *graphFollower {
					return followSocket(t, ctx, ownPort(t, f.server, anonymous), watch, browser)
				}},
				"own port, token, events": {p.token, func(t *testing.T, ctx context.Context) *graphFollower {
					return followResponse(t, ctx, byToken, watch, events)
				}},
				"own port, certificate, lines": {p.certificate, func(t *testing.T, ctx context.Context) *graphFollower {
					return followResponse(t, ctx, byCertificate, watch, http.Header{})
				}},
				"own port, token, get": {p.token, func(t *testing.T, _ context.Context) *graphFollower {
					return snapshot(t, byToken, get)
				}},
				"aggregated, certificate, WebSocket": {p.certificate, func(t *testing.T, ctx context.Context) *graphFollower {
					return followSocket(t, ctx, aggregated, watch)
				}},
				"aggregated, token, events": {p.token, func(t *testing.T, ctx context.Context) *graphFollower {
					return followResponse(t, ctx, aggregatedToken, watch, events)
				}},
				"aggregated, browser, WebSocket": {p.token, func(t *testing.T, ctx context.Context) *graphFollower {
					return followSocket(t, ctx, throughAPIServer(t, anonymous), watch, browser)
				}},
				"aggregated, token, lines": {p.token, func(t *testing.T, ctx context.Context) *graphFollower {
					return followResponse(t, ctx, aggregatedToken, watch, http.Header{})
				}},
				"own port, token, one of many on a WebSocket": {p.token, func(t *testing.T, _ context.Context) *graphFollower {
					return f.followChannel(t, byToken, view)
				}},
				"aggregated, certificate, one of many on a WebSocket": {p.certificate, func(t *testing.T, _ context.Context) *graphFollower {
					return f.followChannel(t, aggregated, view)
				}},
				"aggregated, certificate, get": {p.certificate, func(t *testing.T, _ context.Context) *graphFollower {
					return snapshot(t, aggregated, get)
				}},
			} {
				m.run(name+"/"+view+"/"+how, func(t *testing.T) {
					ctx, stop := context.WithCancel(t.Context())
					defer stop()
					got := transport.open(t, ctx)
					eventually(t, 20*time.Second, func() string { return f.shows(got, view, wholes[view], judges[transport.user]) })
				})
			}
		}
		for how, at := range map[string]road{"own port": byToken, "aggregated": aggregatedToken} {
			m.run(name+"/single objects/"+how, func(t *testing.T) {
				f.showsOne(t, at, "named", wholes["named"], judges[p.token])
			})
			for view := range f.views {
				m.run(name+"/"+view+"/summaries, "+how, func(t *testing.T) {
					f.showsSummaries(t, at, view, summaries[view], judges[p.token])
				})
				m.run(name+"/"+view+"/narrowed, "+how, func(t *testing.T) {
					f.showsNarrowed(t, at, view, wholes[view], judges[p.token])
				})
			}
		}
	}
	m.run("the matrix tells users apart", func(t *testing.T) { f.tellsApart(t, people) })
}

// followChannel follows a view on a channel of a connection that has one for each
// of the others, too.
func (f *rightsFixture) followChannel(t *testing.T, r road, view string) *graphFollower {
	t.Helper()
	m := dialMux(t, r)
	id := int64(0)
	for other := range f.views {
		if id++; other != view {
			m.sendSubscribe(t, id, graphview.Name{Namespace: f.red, Name: other})
		}
	}
	return &m.subscribe(t, id+1, graphview.Name{Namespace: f.red, Name: view}).graphFollower
}

// rest waits until the controllers have written the last status and annotation of the objects of furnish, and nothing
// changes any more, so that snapshots can be compared too.
func (f *rightsFixture) rest(t *testing.T) {
	t.Helper()
	eventually(t, time.Minute, func() string {
		for _, namespace := range []string{f.red, f.blue} {
			key := client.ObjectKey{Namespace: namespace, Name: "web"}
			web, data := &appsv1.Deployment{}, &corev1.PersistentVolumeClaim{}
			if err := f.client.Get(t.Context(), key, web); err != nil {
				return err.Error()
			}
			key.Name = "data"
			if err := f.client.Get(t.Context(), key, data); err != nil {
				return err.Error()
			}
			if s := web.Status; s.Replicas != 2 || s.UnavailableReplicas != 2 || data.Annotations["volume.kubernetes.io/storage-provisioner"] == "" {
				return fmt.Sprintf("in %s: %+v, %v", namespace, s, data.Annotations)
			}
		}
		return ""
	})
	var before oracle.Graph
	still := 0
	eventually(t, time.Minute, func() string {
		now := f.whole(t, "named")
		diff := oracle.Compare(before, now)
		before = now
		if diff != "" {
			still = 0
			return diff
		}
		still++
		if still < 10 {
			return "has only just come to rest"
		}
		return ""
	})
}

// tellsApart makes sure that the fixture can fail: users see different things,
// and each of them something less than all, of vertices and arcs.
func (f *rightsFixture) tellsApart(t *testing.T, people map[string]*person) {
	t.Helper()
	whole := f.whole(t, "named")
	counts := map[string]int{}
	for name, p := range people {
		seen, denied := newJudge(t, p.certificate).leave(whole, f.selected("named"), f.red, f.blue)
		counts[name] = len(seen.Vertices)
		if all := len(seen.Vertices) == len(whole.Vertices); all != (name == "admin") || all != (len(denied) == 0) {
			t.Errorf("%s sees %d of %d vertices; %d denials", name, len(seen.Vertices), len(whole.Vertices), len(denied))
		}
		missing := 0
		for _, attributes := range seen.Arcs {
			if attributes.Missing {
				missing++
			}
		}
		if name == "no-secrets" && missing == 0 || name == "nobody" && len(seen.Arcs)+len(seen.Vertices) > 0 {
			t.Errorf("%s: %d arcs, %d of them to what is not there", name, len(seen.Arcs), missing)
		}
	}
	seen := map[int]string{}
	for name, n := range counts {
		if other, ok := seen[n]; ok {
			t.Errorf("%s and %s both see %d vertices", name, other, n)
		}
		seen[n] = name
	}
}

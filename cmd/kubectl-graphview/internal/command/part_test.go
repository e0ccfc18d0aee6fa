package command

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"graphview.dev/api/reason"
	"graphview.dev/client"
)

// groups is a server on which the word service is of two groups, and the word part of two
// others.
func groups() (meta.RESTMapper, error) {
	group := func(name, resource, kind string) *restmapper.APIGroupResources {
		version := metav1.GroupVersionForDiscovery{GroupVersion: strings.TrimPrefix(name+"/v1", "/"), Version: "v1"}
		return &restmapper.APIGroupResources{
			Group: metav1.APIGroup{Name: name, Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version},
			VersionedResources: map[string][]metav1.APIResource{
				"v1": {{Name: resource, SingularName: strings.TrimSuffix(resource, "s"), Namespaced: true, Kind: kind}},
			},
		}
	}
	return restmapper.NewDiscoveryRESTMapper([]*restmapper.APIGroupResources{
		group("", "services", "Service"), group("serving.knative.dev", "services", "Service"),
		group("b.example.com", "parts", "Part"), group("a.example.com", "parts", "Part"),
	}), nil
}

// viewOf is shop/storefront as a server has it.
func viewOf(t *testing.T, serve http.HandlerFunc) *view {
	t.Helper()
	server := httptest.NewServer(serve)
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL}
	reader, err := client.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(reader.CloseIdleConnections)
	streams, _, _, _ := genericiooptions.NewTestIOStreams()
	return &view{
		cli:       &cli{IOStreams: streams, mapper: groups, wait: time.Minute, quiet: true},
		namespace: "shop", name: "storefront", config: config, client: reader,
	}
}

func TestKeyOf(t *testing.T) {
	for name, test := range map[string]struct {
		text, want, wantErr string
	}{
		"of a word of two groups, one of them core": {text: "service/web", want: "services/shop/web"},
		"of a group that is written":                {text: "services.serving.knative.dev/web", want: "services.serving.knative.dev/shop/web"},
		"as discovery prefers":                      {text: "part/a", want: "parts.b.example.com/shop/a"},
		"in another namespace":                      {text: "Service/other/web", want: "services/other/web"},
		"of no kind":                                {text: "nothing/a", wantErr: `the server has no kind "nothing"`},
		"of no form":                                {text: "service", wantErr: "invalid object"},
	} {
		t.Run(name, func(t *testing.T) {
			key, err := (&view{cli: &cli{mapper: groups}, namespace: "shop"}).keyOf(test.text)
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Errorf("%v, want %s", err, test.wantErr)
				}
				return
			}
			if err != nil || key.String() != test.want {
				t.Errorf("%s, %v, want %s", key, err, test.want)
			}
		})
	}
}

// TestKindOfSeveralGroups: where the core group has a word too, that is what it means.
func TestKindOfSeveralGroups(t *testing.T) {
	k := (&cli{mapper: groups}).newKinds("shop", &client.Graph{})
	for text, want := range map[string]string{
		"service": "services", "Services": "services", "services.serving.knative.dev": "services.serving.knative.dev",
	} {
		if got, err := k.resource(text); err != nil || got.String() != want {
			t.Errorf("%s: %s, %v, want %s", text, got.String(), err, want)
		}
	}
	const want = "part is of several groups: write RESOURCE.GROUP, such as parts.a.example.com"
	if _, err := k.resource("part"); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}

	core := client.Key{Version: "v1", Resource: "services", Namespace: "shop", Name: "web"}
	knative := core
	knative.Group = "serving.knative.dev"
	k = (&cli{mapper: groups}).newKinds("shop", &client.Graph{Vertices: map[client.Key]*client.Vertex{core: {Key: core}, knative: {Key: knative}}})
	for text, want := range map[string]client.Key{"service/web": core, "services.serving.knative.dev/web": knative} {
		if got, err := k.find(text); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", text, got, err, want)
		}
	}
}

// TestAround: a part that is refused is looked for in all of the graph, and the server is
// asked for no depth that it does not take.
func TestAround(t *testing.T) {
	const whole = `{"actions":[{"svx":{"vx":{"g":"","v":"v1","r":"services","ns":"shop","n":"web"}}}],"rev":"1","synced":true}`
	type end struct {
		code    websocket.StatusCode
		message string
	}
	for name, test := range map[string]struct {
		depth int
		begun bool // a message comes before the part is refused
		end   *end
		want  []string // the depths that the server is asked for
	}{
		"a part":                         {depth: 3, want: []string{"3"}},
		"as deep as the server goes":     {depth: 64, want: []string{"64"}},
		"deeper":                         {depth: 65, want: []string{""}},
		"less than nothing":              {depth: -1, want: []string{""}},
		"too large":                      {depth: 3, end: &end{1013, "LimitExceeded: the part is too large"}, want: []string{"3", "whole"}},
		"too large after it has begun":   {depth: 3, begun: true, end: &end{1013, "LimitExceeded: the part is too large"}, want: []string{"3", "whole"}},
		"not understood by an older one": {depth: 3, end: &end{1007, "InvalidRequest: roots"}, want: []string{"3", "whole"}},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var asked []string
			v := viewOf(t, func(w http.ResponseWriter, r *http.Request) {
				query := r.URL.Query()
				mu.Lock()
				if query.Has("root") {
					asked = append(asked, query.Get("depth"))
				} else {
					asked = append(asked, "whole")
				}
				mu.Unlock()
				conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"graphview.v1"}})
				if err != nil {
					return // the test says what was asked
				}
				defer conn.CloseNow()
				if query.Has("root") && test.end != nil {
					if test.begun {
						_ = conn.Write(r.Context(), websocket.MessageText, []byte(`{"actions":[]}`))
					}
					_ = conn.Close(test.end.code, test.end.message)
					return
				}
				_ = conn.Write(r.Context(), websocket.MessageText, []byte(whole))
				<-conn.CloseRead(r.Context()).Done()
			})
			g, err := v.around(t.Context(), "service/web", client.Down, test.depth)
			if err != nil || g == nil || len(g.Vertices) != 1 {
				t.Fatalf("%v, %v", g, err)
			}
			mu.Lock()
			defer mu.Unlock()
			if diff := cmp.Diff(test.want, asked); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestRemedyKeepsTheCause: the text is for people, and the cause for commands.
func TestRemedyKeepsTheCause(t *testing.T) {
	closed := &client.CloseError{Code: reason.CodeTryAgainLater, Reason: reason.LimitExceeded, Message: "too large"}
	err := (&view{cli: &cli{}, namespace: "shop", name: "storefront"}).remedy(t.Context(), closed)
	if err.Error() != "shop/storefront: too large" {
		t.Errorf("%q", err)
	}
	if !errors.Is(err, closed) {
		t.Errorf("%#v has no cause", err)
	}
}

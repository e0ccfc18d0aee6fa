package integration

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/test/oracle"
)

// narrowing is a part of a view that a subscriber asks for.
type narrowing struct {
	roots  []oracle.VertexKey
	follow oracle.Follow
}

// narrowings are around objects of one namespace, one of them missing.
func narrowings(namespace string) map[string]narrowing {
	deployment := oracle.VertexKey{Group: "apps", Version: "v1", Resource: "deployments", Namespace: namespace, Name: "web"}
	core := func(resource, name string) oracle.VertexKey {
		return oracle.VertexKey{Version: "v1", Resource: resource, Namespace: namespace, Name: name}
	}
	return map[string]narrowing{
		"down":         {[]oracle.VertexKey{deployment}, oracle.Follow{Direction: "Down"}},
		"down, a step": {[]oracle.VertexKey{deployment, core("services", "web")}, oracle.Follow{Direction: "Down", Depth: 1}},
		"up":           {[]oracle.VertexKey{core("secrets", "password"), core("configmaps", "nowhere")}, oracle.Follow{Direction: "Up"}},
		"both":         {[]oracle.VertexKey{core("persistentvolumeclaims", "data")}, oracle.Follow{Direction: "Both", Depth: 3}},
	}
}

func rootText(k oracle.VertexKey) string {
	return strings.TrimSuffix(k.Resource+"."+k.Group, ".") + "/" + k.Namespace + "/" + k.Name
}

func (n narrowing) query() string {
	query := url.Values{"direction": {n.follow.Direction}, "depth": {fmt.Sprint(n.follow.Depth)}}
	for _, root := range n.roots {
		query.Add("root", rootText(root))
	}
	return "?" + query.Encode()
}

// showsNarrowed wants a user to see of a part of a view, on a road, what a walk leads to in what
// the API server lets that user see, and to be told of each root that is not among that.
func (f *rightsFixture) showsNarrowed(t *testing.T, r road, view string, whole oracle.Graph, j *judge) {
	t.Helper()
	seen, denied := j.leave(whole, f.selected(view), f.views[view].Namespaces.Names...)
	for name, n := range narrowings(f.red) {
		want, absent := oracle.Narrow(seen, n.roots, n.follow), map[string]bool{}
		for _, root := range n.roots {
			if _, there := seen.Vertices[root]; !there {
				absent[root.Resource+" "+root.Name] = true
			}
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		for how, got := range map[string]*graphFollower{
			"get":   snapshot(t, r, f.path("get", view)+n.query()),
			"watch": followResponse(t, ctx, r, f.path("watch", view)+n.query(), http.Header{}),
		} {
			eventually(t, 20*time.Second, func() string {
				diff := got.Differs(want)
				if diff == "" {
					diff = cmp.Diff(denied, got.denials()) + cmp.Diff(absent, got.rootsNotFound())
				}
				if diff != "" {
					return name + ", " + how + ": " + diff
				}
				return ""
			})
		}
	}
}

// rootsNotFound are the resources and names of the ROOT_NOT_FOUND warnings of a follower.
func (f *graphFollower) rootsNotFound() map[string]bool {
	all := map[string]bool{}
	for _, w := range f.Warnings() {
		if w.Type == "ROOT_NOT_FOUND" {
			all[fmt.Sprint(w.Attributes["r"], " ", w.Attributes["n"])] = true
		}
	}
	return all
}

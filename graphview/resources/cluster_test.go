package resources

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// cluster speaks as much of the Kubernetes API as discovery needs.
type cluster struct {
	url string

	mu        sync.Mutex
	versions  map[schema.GroupVersion]document
	unready   bool
	broken    bool // every discovery fails
	forbidden bool // no watches
	position  int
	watchers  map[chan int]struct{}
	watched   chan struct{} // receives once per watch that begins
}

type document struct {
	resources []metav1.APIResource
	failing   bool
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{
		versions: map[schema.GroupVersion]document{{Version: "v1"}: {resources: served("pods")}},
		watchers: make(map[chan int]struct{}),
		watched:  make(chan struct{}, 100),
	}
	s := httptest.NewServer(c)
	t.Cleanup(s.Close)
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	c.url = s.URL
	return c
}

func (c *cluster) config() *rest.Config { return &rest.Config{Host: c.url, QPS: -1} }

// served are namespaced resources that can be listed and watched.
func served(names ...string) []metav1.APIResource {
	var out []metav1.APIResource
	for _, n := range names {
		out = append(out, metav1.APIResource{Name: n, Kind: "K", Namespaced: true, Verbs: metav1.Verbs{"get", "list", "watch"}})
	}
	return out
}

// change changes the cluster without anybody noticing.
func (c *cluster) change(f func(*cluster)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(c)
}

// set replaces the document of a group/version.
func (c *cluster) set(group, version string, d document) {
	c.change(func(c *cluster) { c.versions[schema.GroupVersion{Group: group, Version: version}] = d })
}

// touch sends every watcher an event.
func (c *cluster) touch() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.position++
	for w := range c.watchers {
		w <- c.position
	}
}

func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, "/")
	switch {
	case strings.HasSuffix(path, "/customresourcedefinitions"), strings.HasSuffix(path, "/apiservices"):
		c.serveObjects(w, r)
	case path == "readyz":
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.unready {
			http.Error(w, "not ready", http.StatusInternalServerError)
			return
		}
	default:
		c.serveDiscovery(w, path)
	}
}

func (c *cluster) serveDiscovery(w http.ResponseWriter, path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken {
		http.Error(w, "broken", http.StatusInternalServerError)
		return
	}
	if path == "api" || path == "apis" {
		w.Header().Set("Content-Type", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
		respond(w, c.aggregatedGroups(path == "api"))
		return
	}
	http.Error(w, "no such version", http.StatusNotFound)
}

func (c *cluster) aggregatedGroups(core bool) apidiscovery.APIGroupDiscoveryList {
	out := apidiscovery.APIGroupDiscoveryList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupDiscoveryList", APIVersion: "apidiscovery.k8s.io/v2"}}
	for gv, d := range c.versions {
		if (gv.Group == "") != core {
			continue
		}
		version := apidiscovery.APIVersionDiscovery{Version: gv.Version, Freshness: apidiscovery.DiscoveryFreshnessCurrent}
		if d.failing {
			version.Freshness = apidiscovery.DiscoveryFreshnessStale
		}
		for _, r := range d.resources {
			scope := apidiscovery.ScopeCluster
			if r.Namespaced {
				scope = apidiscovery.ScopeNamespace
			}
			kind := &metav1.GroupVersionKind{Group: gv.Group, Version: gv.Version, Kind: r.Kind}
			if parent, sub, ok := strings.Cut(r.Name, "/"); ok {
				i := slices.IndexFunc(version.Resources, func(p apidiscovery.APIResourceDiscovery) bool { return p.Resource == parent })
				version.Resources[i].Subresources = append(version.Resources[i].Subresources,
					apidiscovery.APISubresourceDiscovery{Subresource: sub, ResponseKind: kind, Verbs: r.Verbs})
				continue
			}
			version.Resources = append(version.Resources,
				apidiscovery.APIResourceDiscovery{Resource: r.Name, ResponseKind: kind, Scope: scope, Verbs: r.Verbs})
		}
		out.Items = append(out.Items, apidiscovery.APIGroupDiscovery{
			ObjectMeta: metav1.ObjectMeta{Name: gv.Group},
			Versions:   []apidiscovery.APIVersionDiscovery{version},
		})
	}
	return out
}

func (c *cluster) serveObjects(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	if c.forbidden {
		c.mu.Unlock()
		http.Error(w, "forbidden", http.StatusForbidden)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Query().Get("watch") == "" {
		defer c.mu.Unlock()
		respond(w, metav1.PartialObjectMetadataList{
			TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadataList", APIVersion: "meta.k8s.io/v1"},
			ListMeta: metav1.ListMeta{ResourceVersion: fmt.Sprint(c.position)},
		})
		return
	}
	events := make(chan int, 100)
	c.watchers[events] = struct{}{}
	c.mu.Unlock()
	defer c.change(func(c *cluster) { delete(c.watchers, events) })
	w.(http.Flusher).Flush()
	c.watched <- struct{}{}
	for {
		select {
		case <-r.Context().Done():
			return
		case position := <-events:
			_, _ = fmt.Fprintf(w, `{"type":"MODIFIED","object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"x","resourceVersion":"%d"}}}`+"\n", position)
			w.(http.Flusher).Flush()
		}
	}
}

func respond(w http.ResponseWriter, v any) {
	_ = json.NewEncoder(w).Encode(v)
}

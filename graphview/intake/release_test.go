package intake

import (
	"testing"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/helm"
	"graphview.dev/graphview/resources"
	"graphview.dev/test/configmaps"
)

// TestEndOfOtherFeed: the end of a feed of other objects than Secrets and ConfigMaps looks at no
// release.
func TestEndOfOtherFeed(_ *testing.T) {
	in := new(Intake) // without releases: it panics if it looks at them
	(&Feed{intake: in, resource: resources.Resource{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}}).Remove()
}

// TestReleaseAfterANewerVersion: two watches see the ConfigMaps of a release, and confirm newer versions of
// the same content. The managed objects move to the next revision all the same.
func TestReleaseAfterANewerVersion(t *testing.T) {
	g := graph.New(nil)
	kind, resource := KindOf(configmaps.Resource), ResourceOf(configmaps.Resource)
	var watches [2]graph.SourceID
	var l *graph.Lens
	releases := helm.NewReleases(func(s graph.SourceID, o *graph.Object) { g.Set(s, o) })
	set := func(s graph.SourceID, name string, version uint64) {
		o := &graph.Object{Namespace: "shop", Name: name, UID: name, Version: version, Hash: version}
		m := &helm.Managed{Deployed: true, References: []graph.Reference{{Type: graph.Direct, To: kind, Namespace: "shop", Name: "managed", Field: helm.Field}}}
		releases.SetConfigMap(s, o, m)
		l.Select(g.Set(s, o), graph.Selection{Member: true})
	}
	g.Update(func() {
		l = g.NewLens()
		for i := range watches {
			watches[i] = g.AddSource(kind, resource, graph.ScopeNamespaced)
			l.Watch(watches[i])
		}
		l.Use(kind, resource)
		for _, s := range watches {
			set(s, "sh.helm.release.v1.web.v1", 3)
		}
	})
	g.Update(func() {
		for _, s := range watches {
			g.Confirm(s, "shop", "sh.helm.release.v1.web.v1", 4, 3)
		}
	})
	g.Update(func() { set(watches[0], "sh.helm.release.v1.web.v2", 5) })
	v, _ := l.Look(graph.Key{Resource: resource, Namespace: "shop", Name: "sh.helm.release.v1.web.v1"}, 9, graph.Reading{})
	if len(v.Out) != 0 {
		t.Errorf("the former revision refers to %v", v.Out[0].To)
	}
}

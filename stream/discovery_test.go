package stream

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// TestDiscovery reads the discovery documents with client-go.
func TestDiscovery(t *testing.T) {
	s := serveOptions(t, Options{Cluster: fakeCluster{}, Version: "v1.2.3"})
	client, err := discovery.NewDiscoveryClientForConfigAndClient(
		&rest.Config{Host: s.url(""), BearerToken: "reader"}, withToken(s.client, "reader"))
	if err != nil {
		t.Fatal(err)
	}
	groups, resources, err := client.ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	if len(groups) != 1 || groups[0].Name != "stream.graphview.dev" || groups[0].PreferredVersion.Version != "v1alpha1" {
		t.Errorf("groups: %v", groups)
	}
	want := []*metav1.APIResourceList{{
		TypeMeta:     metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
		GroupVersion: "stream.graphview.dev/v1alpha1",
		APIResources: []metav1.APIResource{{
			Name: "graphs", SingularName: "graph", Namespaced: true, Kind: "Graph", Verbs: metav1.Verbs{"get", "list"},
		}, {
			Name: "graphs/object", Namespaced: true, Kind: "GraphObject", Verbs: metav1.Verbs{"get"},
		}},
	}}
	if diff := cmp.Diff(want, resources); diff != "" {
		t.Errorf("resources: -want +got:\n%s", diff)
	}
	version, err := client.ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	if version.GitVersion != "v1.2.3" || version.Major != "1" || version.Minor != "2" {
		t.Errorf("version: %v", version)
	}
}

func TestDocumentsByPath(t *testing.T) {
	s := serve(t, nil)
	for path, wantKind := range map[string]string{
		"/apis": "APIGroupList", "/apis/": "APIGroupList", "/apis/stream.graphview.dev": "APIGroup",
		"/apis/stream.graphview.dev/v1alpha1": "APIResourceList",
	} {
		code, body := s.get(path, nil)
		if got := decode(t, body)["kind"]; code != 200 || got != wantKind {
			t.Errorf("%s: %d %v", path, code, got)
		}
	}
}

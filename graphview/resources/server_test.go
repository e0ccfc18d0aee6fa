package resources

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

func TestServerList(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change  func(*cluster)
		want    []string
		wantErr bool
	}{
		"Everything": {
			change: func(c *cluster) { c.set("apps", "v1", document{resources: served("deployments", "statefulsets")}) },
			want:   []string{"v1/pods", "apps/v1/deployments", "apps/v1/statefulsets"},
		},
		"ListableAndWatchableAlone": {
			change: func(c *cluster) {
				c.set("g", "v1", document{resources: append(served("a", "a/status"),
					metav1.APIResource{Name: "b", Kind: "K", Verbs: metav1.Verbs{"list"}},
					metav1.APIResource{Name: "c", Kind: "K", Verbs: metav1.Verbs{"watch", "create"}})})
			},
			want: []string{"v1/pods", "g/v1/a"},
		},
		"OneVersionFails": {
			change: func(c *cluster) {
				c.set("apps", "v1", document{resources: served("deployments")})
				c.set("down.example.com", "v1", document{resources: served("things"), failing: true})
			},
			want: []string{"v1/pods", "apps/v1/deployments", "failed down.example.com/v1"},
		},
		"EverythingFails": {
			change: func(c *cluster) {
				c.set("", "v1", document{failing: true})
				c.set("down.example.com", "v1", document{failing: true})
			},
			want: []string{"failed /v1", "failed down.example.com/v1"},
		},
		"NoCoreGroupIsAFailure": {
			change: func(c *cluster) {
				c.change(func(c *cluster) { delete(c.versions, schema.GroupVersion{Version: "v1"}) })
				c.set("apps", "v1", document{resources: served("deployments")})
			},
			want: []string{"apps/v1/deployments", "failed /v1"},
		},
		"OwnGroupFails": {
			change: func(c *cluster) { c.set(servedGroup, "v1alpha1", document{failing: true}) },
			want:   []string{"v1/pods"},
		},
		"Broken": {
			change:  func(c *cluster) { c.change(func(c *cluster) { c.broken = true }) },
			wantErr: true,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			tt.change(c)
			client, err := discovery.NewDiscoveryClientForConfig(c.config())
			if err != nil {
				t.Fatal(err)
			}
			l, err := server{client: client}.list(t.Context())
			if (err != nil) != tt.wantErr {
				t.Fatalf("error = %v, want one: %t", err, tt.wantErr)
			}
			catalog := l.catalogAfter(nil)
			var got []string
			for _, r := range catalog.All() {
				got = append(got, r.String())
			}
			for _, f := range catalog.Failed() {
				got = append(got, "failed "+f.Group+"/"+f.Version)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("listing (-want +got):\n%s", diff)
			}
		})
	}
}

package refs

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMark(t *testing.T) {
	for name, test := range map[string]struct {
		object string
		want   map[string]string
	}{
		"the claim of a pod":             {`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data-broker-internal-10}}`, map[string]string{"app": "x", numberedMark: "data-broker-internal"}},
		"no number":                      {`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data-01}}`, map[string]string{"app": "x"}},
		"another kind":                   {`{apiVersion: v1, kind: Pod, metadata: {name: db-0}}`, map[string]string{"app": "x"}},
		"a tracked object":               {`{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop, annotations: {argocd.argoproj.io/tracking-id: "home:apps/Deployment:shop/web"}}}`, map[string]string{"app": "x", trackedMark: "home/web"}},
		"of an application elsewhere":    {`{apiVersion: v1, kind: Namespace, metadata: {name: shop, annotations: {argocd.argoproj.io/tracking-id: "team_home:/Namespace:other/shop"}}}`, map[string]string{"app": "x", trackedMark: "home/shop"}},
		"a copy of a tracked object":     {`{apiVersion: v1, kind: ConfigMap, metadata: {name: copy, namespace: shop, annotations: {argocd.argoproj.io/tracking-id: "home:/ConfigMap:shop/web"}}}`, map[string]string{"app": "x"}},
		"a copy in another namespace":    {`{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: copies, annotations: {argocd.argoproj.io/tracking-id: "home:/ConfigMap:shop/web"}}}`, map[string]string{"app": "x"}},
		"another text in place of an id": {`{apiVersion: v1, kind: ConfigMap, metadata: {name: web, annotations: {argocd.argoproj.io/tracking-id: ":::"}}}`, map[string]string{"app": "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			kind, object := decode(t, []byte(test.object))
			if diff := cmp.Diff(test.want, Mark(kind, object, map[string]string{"app": "x"})); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
		})
	}
}

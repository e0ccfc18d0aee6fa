package refs

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMovedOwner: an owner of a group that is not served is looked up by its UID in the groups
// that serve a kind of that name.
func TestMovedOwner(t *testing.T) {
	kind, object := decode(t, []byte(`{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: shop, ownerReferences: [
  {apiVersion: extensions/v1beta1, kind: Deployment, name: web, uid: u1, controller: true},
  {apiVersion: apps/v1, kind: Deployment, name: api, uid: u2}, {apiVersion: old.example.com/v1, kind: Deployment, name: none}]}}`))
	x := Builtin().Serving(servedBy("apps/Deployment", "example.com/Deployment"))
	want := lines(`
		or extensions/Deployment shop?/web uid=u1 controller
		or apps/Deployment shop?/web uid=u1 controller
		or example.com/Deployment shop?/web uid=u1 controller
		or apps/Deployment shop?/api uid=u2
		or old.example.com/Deployment shop?/none`)
	found := x.Extract(kind, object)
	if diff := cmp.Diff(want, render(found)); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
	for i, want := range []bool{false, true, true, false, false} {
		if found[i].Inferred != want {
			t.Errorf("%s is inferred: %t", renderOne(&found[i]), found[i].Inferred)
		}
	}
}

package graphview

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/watch"
)

// fixedRights know all: what is not among them is denied.
type fixedRights map[Place]bool

func (r fixedRights) Allowed(p Place) (allowed, known bool) { return r[p], true }
func (fixedRights) Digest() string                          { return "fixed" }

// TestWarningsByRights: who may not see an object, or that there is a namespace,
// does not learn of it from a warning.
func TestWarningsByRights(t *testing.T) {
	pods := resources.Resource{Version: "v1", Resource: "pods", Namespaced: true}
	of := func(r resources.Resource, namespace string) *tap {
		return &tap{need: need{resource: r, key: watch.Key{Namespace: namespace}}}
	}
	namespaces := of(resources.Resource{Version: "v1", Resource: "namespaces"}, "")
	namespaces.namespaces = &namespaceProgram{}

	w := newWarnings(func() {})
	w.setFault(of(pods, ""), "shop", "web", errors.New("no such key: x"))
	w.setFault(namespaces, "", "shop", errors.New("no such key: x"))
	live := map[string]warning{}
	for _, one := range []warning{syncWarning(of(pods, "shop"), "forbidden"), syncWarning(of(pods, ""), "forbidden"), {Type: "DISCOVERY_FAILED"}} {
		live[one.id()] = one
	}
	w.set(live)

	for name, test := range map[string]struct {
		rights Rights
		named  map[string]bool
		want   map[string]string // type and namespace
	}{
		"no restriction": {want: map[string]string{
			"OBJECT_PROCESSING_FAILED shop web": "", "NAMESPACE_LIST_FAILED shop ": "", "INFORMER_SYNC_FAILED shop ": "", "INFORMER_SYNC_FAILED  ": "", "DISCOVERY_FAILED  ": "",
		}},
		"no rights": {rights: fixedRights{}, want: map[string]string{"INFORMER_SYNC_FAILED  ": "", "DISCOVERY_FAILED  ": ""}},
		"no rights, in a namespace that the spec names": {rights: fixedRights{}, named: map[string]bool{"shop": true}, want: map[string]string{
			"INFORMER_SYNC_FAILED shop ": "", "INFORMER_SYNC_FAILED  ": "", "DISCOVERY_FAILED  ": "",
		}},
		"pods in the namespace": {rights: fixedRights{{Resource: "pods", Namespace: "shop"}: true}, want: map[string]string{
			"OBJECT_PROCESSING_FAILED shop web": "", "INFORMER_SYNC_FAILED shop ": "", "INFORMER_SYNC_FAILED  ": "", "DISCOVERY_FAILED  ": "",
		}},
		"namespaces": {rights: fixedRights{{Resource: "namespaces"}: true}, want: map[string]string{
			"NAMESPACE_LIST_FAILED shop ": "", "INFORMER_SYNC_FAILED  ": "", "DISCOVERY_FAILED  ": "",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			set, _, _, _ := w.since(0)
			got := map[string]string{}
			for _, one := range newGate(test.rights).permitted(set, test.named) {
				got[one.Type+" "+one.Attributes.Namespace+" "+one.Attributes.Name] = ""
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

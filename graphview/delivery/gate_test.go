package delivery

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/api/reason"
	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/graphview/access"
)

// TestWarningsByRights: warnings do not reveal objects or namespaces that a subscriber may not
// see.
func TestWarningsByRights(t *testing.T) {
	w := NewWarnings(func() {})
	w.SetFault(&FaultOrigin{Resource: pods}, "shop", "web", errors.New("no such key: x"))
	w.SetFault(&FaultOrigin{Resource: namespaces, Namespaces: true}, "", "shop", errors.New("no such key: x"))
	live := map[WarningID]Warning{}
	for _, one := range []Warning{About(streamv1alpha1.InformerSyncFailed, "forbidden", pods, "shop"), About(streamv1alpha1.InformerSyncFailed, "forbidden", pods, ""), {Type: streamv1alpha1.DiscoveryFailed}} {
		live[one.ID()] = one
	}
	w.Set(live)

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
		"pods in the namespace": {rights: fixedRights{access.Place{Resource: "pods", Namespace: "shop"}: true}, want: map[string]string{
			"OBJECT_PROCESSING_FAILED shop web": "", "INFORMER_SYNC_FAILED shop ": "", "INFORMER_SYNC_FAILED  ": "", "DISCOVERY_FAILED  ": "",
		}},
		"namespaces": {rights: fixedRights{access.Place{Resource: "namespaces"}: true}, want: map[string]string{
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

// unanswered is a subscriber whose rights are unknown because reviews fail.
type unanswered struct{ err error }

func (a unanswered) Rights() Rights                                { return someRights{} }
func (a unanswered) Changed() <-chan struct{}                      { return nil }
func (a unanswered) Resolve(context.Context, []access.Place) error { return a.err }

// TestUnansweredErrorsHideAddresses: whose rights cannot be found out is told so, and nothing of
// what the API server's client said.
func TestUnansweredErrorsHideAddresses(t *testing.T) {
	s := newStage(t)
	s.set("Running", false, "a")
	r := s.reader(SubscribeOptions{Access: unanswered{errors.New(`Post "https://10.96.0.1:443/apis": connection refused`)}})
	_, err := r.Next(t.Context())
	closed, ok := errors.AsType[*ClosedError](err)
	if !ok || closed.Reason != reason.Unavailable || strings.Contains(err.Error(), "10.96") {
		t.Errorf("the stream ends with %v, want %s and no address", err, reason.Unavailable)
	}
}

package wording

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLeftOut: everything that an answer leaves out is said, each with one sentence.
func TestLeftOut(t *testing.T) {
	var many []Gap
	for i := range 10 {
		many = append(many, Gap{Type: "ACCESS_DENIED", Resource: fmt.Sprintf("r%d", i)})
	}
	tests := map[string]struct {
		answer Answer
		want   []string
	}{
		"nothing": {Answer{Of: "shop/web"}, nil},
		"everything": {
			Answer{Of: "shop/web", Incomplete: true, Declared: true, Here: true, Gaps: []Gap{
				{Type: "ACCESS_DENIED", Resource: "secrets", Namespace: "shop"},
				{Type: "ACCESS_DENIED", Resource: "secrets", Namespace: "pay"},
				{Type: "INFORMER_SYNC_FAILED", Message: "roles is left out: you may not list and watch it", Group: "rbac.authorization.k8s.io", Resource: "roles"},
				{Type: "INFORMER_SYNC_FAILED", Message: "pods: ServiceAccount shop/viewer may not list and watch it", Resource: "pods"},
				{Type: "INFORMER_SYNC_FAILED", Message: "jobs.batch: ServiceAccount shop/viewer may not list and watch it", Group: "batch", Resource: "jobs"},
				{Type: "DISCOVERY_FAILED", Message: "metrics.k8s.io/v1beta1 does not answer\x1b"},
			}},
			[]string{
				"shop/web is not complete yet: there may be more.",
				"Not all kinds of the cluster are known: metrics.k8s.io/v1beta1 does not answer�",
				"Left out, since the view cannot read it: jobs.batch, pods. ServiceAccount shop/viewer may not list and watch it",
				"Left out, since you may not list it: roles.rbac.authorization.k8s.io.",
				"Left out, since you may not list it in pay and shop: secrets.",
				"References from other namespaces were not looked at.",
				"Inferred references were left out.",
			},
		},
		"many kinds": {Answer{Gaps: many}, []string{
			"Left out, since you may not list it: r0, r1, r2, r3 and 6 more resources.",
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.answer.LeftOut()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestAbsent: an object that the reader may not list is not called absent.
func TestAbsent(t *testing.T) {
	for want, absent := range map[string]Absent{
		`Secret "s" not found in namespace "a"`:                                              {Kind: "Secret", Resource: "secrets", Namespace: "a", Name: "s", Selected: true},
		`nodes "s" not found: the view does not select nodes`:                                {Kind: "nodes", Resource: "nodes", Name: "s"},
		`you may not list nodes; no object that you may see refers to "s"`:                   {Resource: "nodes", Name: "s", Denied: true},
		`you may not list secrets in namespace "a"; 1 object that you may see refers to "s"`: {Resource: "secrets", Namespace: "a", Name: "s", Denied: true, Referrers: 1},
		`you may not list secrets in namespace "a"; 2 objects that you may see refer to "s"`: {Resource: "secrets", Namespace: "a", Name: "s", Denied: true, Referrers: 2},
	} {
		if got := absent.Text(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

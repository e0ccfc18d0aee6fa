package controllers

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
	"graphview.dev/graphview/advice"
)

// namespaceReader answers lists of namespaces, and counts them.
type namespaceReader struct {
	client.Reader

	names []string
	err   error
	asked int
	// endless is how many lists had no deadline.
	endless int
}

func (n *namespaceReader) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	n.asked++
	if _, ok := ctx.Deadline(); !ok {
		n.endless++
	}
	var o client.ListOptions
	o.ApplyOptions(options)
	for _, name := range n.names {
		if o.FieldSelector == nil || o.FieldSelector.String() == "metadata.name="+name {
			all := list.(*metav1.PartialObjectMetadataList)
			all.Items = append(all.Items, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name}})
		}
	}
	return n.err
}

func TestAdviseNamespaces(t *testing.T) {
	const wanted = "spec.namespaces.names[1]: there is no namespace 'shpo'; did you mean 'shop'?"
	tests := map[string]struct {
		names     []v1alpha1.NamespaceName
		account   string
		err       error
		want      []string
		wantAgain time.Duration
		wantAsked int
	}{
		"one is absent":                        {names: []v1alpha1.NamespaceName{"shop", "shpo"}, want: []string{wanted}, wantAgain: absentRetry, wantAsked: 2},
		"all are there":                        {names: []v1alpha1.NamespaceName{"shop"}, wantAgain: presentRetry, wantAsked: 1},
		"none are named":                       {},
		"an account that may list them":        {names: []v1alpha1.NamespaceName{"shop", "shpo"}, account: "allowed", want: []string{wanted}, wantAgain: absentRetry, wantAsked: 2},
		"an account that may not":              {names: []v1alpha1.NamespaceName{"shpo"}, account: "viewer", wantAgain: presentRetry},
		"an account of which nothing is known": {names: []v1alpha1.NamespaceName{"shpo"}, account: "unknown", wantAgain: absentRetry},
		"the operator may not list them":       {names: []v1alpha1.NamespaceName{"shpo"}, err: errors.New("forbidden"), wantAgain: absentRetry, wantAsked: 1},
		"many are asked for at once":           {names: []v1alpha1.NamespaceName{"shop", "shop", "shop", "shop", "shop", "shop", "shop", "shop", "shop"}, wantAgain: presentRetry, wantAsked: 1},
		"one that is near nothing that is own": {names: []v1alpha1.NamespaceName{"secret-project"}, want: []string{"spec.namespaces.names[0]: there is no namespace 'secret-project'; what is in it is shown when it is created"}, wantAgain: absentRetry, wantAsked: 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			clock := clocktesting.NewFakePassiveClock(epoch)
			reader := &namespaceReader{names: []string{"shop", "secret-projects"}, err: tt.err}
			r := &GraphViewReconciler{reader: reader, options: Options{Clock: clock, MayListNamespaces: func(account graphview.Name) (may, known bool) {
				return account.Name == "allowed", account.Name != "unknown"
			}}}
			view := &v1alpha1.GraphView{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", Generation: 1}}
			view.Spec.ServiceAccountName = tt.account
			if tt.names != nil {
				view.Spec.Namespaces = &v1alpha1.Namespaces{Names: tt.names}
			}
			record := &record{}
			for range 2 { // the second time from memory
				findings, again := r.adviseNamespaces(t.Context(), view, record)
				if diff := cmp.Diff(tt.want, advice.Texts(findings)); diff != "" || again != tt.wantAgain || reader.asked != tt.wantAsked {
					t.Errorf("findings (-want +got):\n%s\nagain in %s, asked %d times", diff, again, reader.asked)
				}
			}
			if tt.wantAgain == absentRetry {
				reader.names = append(reader.names, "shpo", "secret-project")
				clock.SetTime(epoch.Add(absentRetry))
				if findings, _ := r.adviseNamespaces(t.Context(), view, record); findings != nil {
					t.Errorf("after it was created: %v", findings)
				}
			}
		})
	}
}

// TestNamespaceListIsShared: views that name many namespaces ask the API server once
// between them, for an error too, and never without a deadline.
func TestNamespaceListIsShared(t *testing.T) {
	names := make([]v1alpha1.NamespaceName, maxAskedOne+1)
	for i := range names {
		names[i] = "shpo"
	}
	tests := map[string]struct {
		err          error
		wantFindings bool
	}{
		"an answer": {wantFindings: true},
		"an error":  {err: errors.New("unreachable")},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			clock := clocktesting.NewFakePassiveClock(epoch)
			reader := &namespaceReader{names: []string{"shop"}, err: tt.err}
			r := &GraphViewReconciler{reader: reader, options: Options{Clock: clock}}
			for _, want := range []int{1, 2} {
				for range 5 {
					view := &v1alpha1.GraphView{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", Generation: 1}}
					view.Spec.Namespaces = &v1alpha1.Namespaces{Names: names}
					findings, again := r.adviseNamespaces(t.Context(), view, &record{})
					if (len(findings) > 0) != tt.wantFindings || again != absentRetry || reader.asked != want {
						t.Errorf("findings %v, again in %s, asked %d times, want %d", findings, again, reader.asked, want)
					}
				}
				clock.SetTime(epoch.Add(absentRetry))
			}
			if reader.endless > 0 {
				t.Errorf("%d requests without a deadline", reader.endless)
			}
		})
	}
}

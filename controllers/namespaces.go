package controllers

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
	"graphview.dev/graphview/advice"
)

const (
	// absentRetry and presentRetry are the times until namespaces are listed again: after
	// one was missing or unknown, and after all existed. There is no watch, since only advice
	// depends on the result.
	absentRetry  = 30 * time.Second
	presentRetry = 10 * time.Minute
	// maxAskedOne is the number of namespaces up to which each is read by itself.
	maxAskedOne = 8
	// namespacePage is the number of namespaces in one page of a list.
	namespacePage = 500
	// namespaceTimeout bounds the wait for the API server's list.
	namespaceTimeout = 10 * time.Second
)

// namespaceAdvice is the last result of adviseNamespaces.
type namespaceAdvice struct {
	generation int64
	none       bool // the spec names no namespaces
	at         time.Time
	findings   []advice.Finding
	unknown    bool // the namespaces could not be read
}

// due returns the time at which the namespaces are listed again.
func (l *namespaceAdvice) due() time.Time {
	if len(l.findings) > 0 || l.unknown {
		return l.at.Add(absentRetry)
	}
	return l.at.Add(presentRetry)
}

// adviseNamespaces finds the namespaces that a GraphView names and that do not exist.
// It suggests no namespace but the GraphView's own, since the author may not know the names of others. If the
// GraphView names a ServiceAccount, that must be allowed to
// list namespaces. It returns the time until the next call, 0 for never.
func (r *GraphViewReconciler) adviseNamespaces(ctx context.Context, view *v1alpha1.GraphView, record *record) ([]advice.Finding, time.Duration) {
	if r.reader == nil {
		return nil, 0
	}
	now := r.options.Clock.Now()
	if record.namespaces.generation != view.Generation || !record.namespaces.none && !now.Before(record.namespaces.due()) {
		whole, err := r.whole(ctx, view)
		if err != nil || whole.Generation != view.Generation {
			return nil, time.Second // it was deleted or changed, and is reconciled again
		}
		var names []v1alpha1.NamespaceName
		if of := whole.Spec.Namespaces; of != nil {
			names = of.Names
		}
		record.namespaces = namespaceAdvice{generation: view.Generation, at: now, none: len(names) == 0}
		if len(names) == 0 {
			return nil, 0
		}
		may, known := r.mayListNamespaces(view)
		var exist map[string]bool
		if may {
			listing, cancel := context.WithTimeout(ctx, namespaceTimeout)
			defer cancel()
			exist, err = r.existing(listing, names)
		}
		switch {
		case !known: // adviseNamespaces is called again with the next change of the view's Status
			record.namespaces = namespaceAdvice{unknown: true, at: now}
		case err != nil:
			// The operator may lack the right to list namespaces.
			record.namespaces.unknown = true
			ctrl.LoggerFrom(ctx).V(1).Info("Cannot tell which namespaces exist", "error", err.Error())
		case may:
			record.namespaces.findings = advice.OfNamespaces(names, func(name string) bool { return exist[name] }, []string{view.Namespace})
		}
	}
	if record.namespaces.none {
		return nil, 0
	}
	return record.namespaces.findings, max(record.namespaces.due().Sub(now), time.Second)
}

// mayListNamespaces returns whether the ServiceAccount of a view may list namespaces, and
// whether that is known. It does not wait: an account with many questions
// would delay the reconciler for others.
func (r *GraphViewReconciler) mayListNamespaces(view *v1alpha1.GraphView) (may, known bool) {
	name := view.Spec.ServiceAccountName
	if name == "" || r.options.MayListNamespaces == nil {
		return name == "", true
	}
	return r.options.MayListNamespaces(graphview.Name{Namespace: view.Namespace, Name: name})
}

// existing returns the names that are namespaces; for many names, all namespaces.
func (r *GraphViewReconciler) existing(ctx context.Context, names []v1alpha1.NamespaceName) (map[string]bool, error) {
	if len(names) > maxAskedOne {
		return r.namespaces.all(ctx, r.reader, r.options.Clock.Now())
	}
	exist := map[string]bool{}
	for _, name := range names {
		if _, err := listNamespaces(ctx, r.reader, exist, client.MatchingFields{"metadata.name": string(name)}); err != nil {
			return nil, err
		}
	}
	return exist, nil
}

// namespaceList has all namespaces, at most absentRetry old. The views that
// name many share it, so that the API server gets one list for all of them.
type namespaceList struct {
	mu    sync.Mutex
	at    time.Time // zero before the first
	exist map[string]bool
	err   error
}

// all returns the namespaces, which the caller must not modify. An error is shared like an
// answer, so that callers do not wait for several lists that time out one after another.
func (l *namespaceList) all(ctx context.Context, reader client.Reader, now time.Time) (map[string]bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.at.IsZero() && now.Sub(l.at) < absentRetry {
		return l.exist, l.err
	}
	l.at, l.exist, l.err = now, map[string]bool{}, nil
	for next, first := "", true; first || next != ""; first = false {
		if next, l.err = listNamespaces(ctx, reader, l.exist, client.Limit(namespacePage), client.Continue(next)); l.err != nil {
			l.exist = nil
			break
		}
	}
	return l.exist, l.err
}

// listNamespaces adds the namespaces of one page, and returns the token of the next page.
func listNamespaces(ctx context.Context, reader client.Reader, exist map[string]bool, options ...client.ListOption) (string, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("NamespaceList"))
	if err := reader.List(ctx, list, options...); err != nil {
		return "", fmt.Errorf("list namespaces: %w", err)
	}
	for i := range list.Items {
		exist[list.Items[i].Name] = true
	}
	return list.Continue, nil
}

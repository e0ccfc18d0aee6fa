package offline

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// judged are the kinds with the fields that findings are about.
var judged = []schema.GroupKind{
	podKind, serviceKind, configMapKind, {Group: "apps", Kind: "Deployment"}, {Group: "apps", Kind: "StatefulSet"}, {Group: "apps", Kind: "DaemonSet"},
	{Group: "batch", Kind: "Job"}, {Group: "batch", Kind: "CronJob"}, {Group: "networking.k8s.io", Kind: "Ingress"}, {Group: "networking.k8s.io", Kind: "NetworkPolicy"},
	{Group: "policy", Kind: "PodDisruptionBudget"}, {Group: "monitoring.coreos.com", Kind: "ServiceMonitor"}, {Group: "monitoring.coreos.com", Kind: "PodMonitor"},
}

// LiveFindings returns the wrong fields of the manifests, and those of live objects that are wrong because the
// manifests are applied: a key or a port that goes, a label that a selector needs. It reads the namespaces of the
// manifests; unread has the ones that the user may not read.
func (m *Manifests) LiveFindings(ctx context.Context, config *rest.Config) (found []Finding, unread []string, err error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, nil, err
	}
	before, after := m.beside(), m.beside()
	for _, namespace := range m.Spread() {
		objects, err := m.liveIn(ctx, client, namespace)
		switch {
		case apierrors.IsForbidden(err):
			unread = append(unread, namespace)
			continue
		case err != nil:
			return nil, nil, fmt.Errorf("read namespace %s: %w", namespace, err)
		}
		for _, o := range objects {
			before.Objects[o.Key] = o
			if mine := m.Objects[o.Key]; mine != nil && !mine.Made() {
				o = &Object{Key: o.Key, Kind: o.Kind, Content: applied(o.Content, mine.Content, false), source: mine.source, at: mine.at}
			}
			after.Objects[o.Key] = o
		}
	}
	for key, o := range m.Objects {
		if after.Objects[key] == nil && !slices.Contains(unread, key.Namespace) {
			after.Objects[key] = o
		}
	}
	before.relate()
	after.relate()
	old := map[string]bool{}
	for _, f := range before.Findings() {
		old[f.text()] = true
	}
	for _, f := range after.Findings() {
		if f.Object.File() != "" || !old[f.text()] {
			found = append(found, f)
		}
	}
	return found, unread, nil
}

func (f *Finding) text() string { return f.Object.Key.String() + " " + f.Field + " " + f.Message }

// beside returns Manifests without objects, with the same kinds.
func (m *Manifests) beside() *Manifests {
	of := newManifests(m.namespace, nil)
	of.kinds = m.kinds
	return of
}

// liveIn reads the objects of a namespace that findings are about. Pods of the workloads among them are left
// out, since the manifests may change the template.
func (m *Manifests) liveIn(ctx context.Context, client dynamic.Interface, namespace string) ([]*Object, error) {
	var all []*Object
	for _, of := range judged {
		kind, served := m.kinds.of(of.WithVersion("v1"))
		if !served {
			continue
		}
		resource := kind.GroupVersion().WithResource(kind.Resource)
		live, err := client.Resource(resource).Namespace(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		for i := range live.Items {
			o := &Object{Kind: kind, Content: live.Items[i].Object, source: &document{}, Key: Key{kind.GroupKind(), namespace, live.Items[i].GetName()}}
			controller := metav1.GetControllerOf(&live.Items[i])
			if controller == nil || of != podKind || !slices.Contains([]string{"ReplicaSet", "StatefulSet", "DaemonSet", "Job"}, controller.Kind) {
				all = append(all, o)
			}
		}
	}
	return all, nil
}

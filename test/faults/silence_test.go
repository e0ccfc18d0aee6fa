package faults

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/graphview"
	"graphview.dev/test/fixture"
	"graphview.dev/test/oracle"
)

var unconfirmed = regexp.MustCompile(`unconfirmed since (\S+): `)

// TestSilentAPIServer checks that subscribers are warned while the connection to the API server carries
// nothing, with the time since when the graph may be out of date, which is not after the silence began,
// and that the warning is cleared when the watches go on.
func TestSilentAPIServer(t *testing.T) {
	c := newClient(t)
	namespace := fixture.Namespace(t, plane, c, "silent")
	add := func(o client.Object, name string) {
		t.Helper()
		o.SetNamespace(namespace)
		o.SetName(name)
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	add(&corev1.ConfigMap{}, "listed")
	p := newProxy(t)
	r := runEngine(t, p, graphview.Options{})
	v := oracle.View{
		Queries:    []oracle.Query{{Include: &oracle.Include{ResourceSelectorExpression: "group == '' && resource in ['configmaps', 'services']"}}},
		Namespaces: &oracle.Namespaces{Names: []string{namespace}},
	}
	r.apply("view", v)
	sub := subscribe(t.Context(), "view", r.view)
	defer sub.stop()
	equals := func() string {
		want, err := oracle.Build(t.Context(), plane.Config(), v)
		if err != nil {
			return err.Error()
		}
		return sub.Differs(want)
	}
	fixture.Eventually(t, 30*time.Second, pollInterval, equals)
	// The engine has read the answers to all requests once it has an event from each watch. An answer that it read during
	// the silence would be newer than the beginning of the silence.
	add(&corev1.ConfigMap{}, "watched")
	add(&corev1.Service{Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"}}, "watched")
	fixture.Eventually(t, 30*time.Second, pollInterval, equals)

	p.Silence()
	silent := time.Now()
	add(&corev1.ConfigMap{}, "meanwhile") // which the engine cannot know
	fixture.Eventually(t, time.Minute, pollInterval, func() string {
		warned := 0
		for _, w := range sub.Warnings() {
			since := unconfirmed.FindStringSubmatch(w.Message)
			if w.Type != streamv1alpha1.InformerSyncFailed || since == nil {
				return fmt.Sprintf("warning: %+v", w)
			}
			at, err := time.Parse(time.RFC3339, since[1])
			if err != nil || at.After(silent) {
				t.Errorf("%s, but nothing came after %s: %v", w.Message, silent.UTC().Format(time.RFC3339), err)
			}
			warned++
		}
		if warned != 2 {
			return fmt.Sprintf("%d of 2 resources are unconfirmed", warned)
		}
		return ""
	})

	p.Speak()
	fixture.Eventually(t, time.Minute, pollInterval, func() string {
		if live := sub.Warnings(); len(live) > 0 {
			return fmt.Sprintf("warnings: %v", live)
		}
		return equals()
	})
}

package faults

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
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
	add := func(name string) {
		t.Helper()
		if err := c.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}); err != nil {
			t.Fatal(err)
		}
	}
	add("before")
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

	p.Silence()
	silent := time.Now()
	add("meanwhile") // which the engine cannot know
	fixture.Eventually(t, time.Minute, pollInterval, func() string {
		warned := 0
		for _, w := range sub.Warnings() {
			since := unconfirmed.FindStringSubmatch(w.Message)
			if w.Type != delivery.InformerSyncFailed || since == nil {
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

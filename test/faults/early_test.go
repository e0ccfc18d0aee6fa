package faults

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/graphview"
	"graphview.dev/test/fixture"
	"graphview.dev/test/oracle"
)

// TestListsEndEarly: no list comes in one answer, so each comes in pages, while
// objects come and go; first and when it is read again. The API server has no watch cache
// for ConfigMaps and forgets what was a second ago, so that their pages get too old.
func TestListsEndEarly(t *testing.T) {
	const objects = 40
	c := newClient(t)
	namespace := fixture.Namespace(t, plane, c, "early")
	dice := rand.New(rand.NewPCG(13, 4))
	create := func(i int) {
		t.Helper()
		meta := metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("object-%03d", i)}
		for _, o := range []client.Object{
			&corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"noise": noise(dice)}},
			&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: meta.Name, Annotations: map[string]string{"noise": noise(dice)}}},
		} {
			if err := c.Create(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
	}
	remove := func(i int) {
		t.Helper()
		meta := metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("object-%03d", i)}
		for _, o := range []client.Object{&corev1.ConfigMap{ObjectMeta: meta}, &corev1.ServiceAccount{ObjectMeta: meta}} {
			if err := c.Delete(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range objects {
		create(i)
	}

	p := newProxy(t)
	long := Fault{Chance: 1, Verbs: []string{"list"}, Resources: []string{"configmaps", "serviceaccounts"}, Longest: 32 << 10}
	p.Break(1, long)
	r := runEngine(t, p, graphview.Options{})
	v := oracle.View{
		Queries:    []oracle.Query{{Include: &oracle.Include{ResourceSelectorExpression: "group == '' && resource in ['configmaps', 'serviceaccounts']"}}},
		Namespaces: &oracle.Namespaces{Names: []string{namespace}},
	}
	r.apply("early", v)
	sub := subscribe(t.Context(), "early", r.view)
	defer sub.stop()
	equal := func() {
		t.Helper()
		fixture.Eventually(t, 2*time.Minute, pollInterval, func() string {
			want, err := oracle.Build(t.Context(), plane.Config(), v)
			if err != nil {
				return err.Error()
			}
			if differs := sub.Differs(want); differs != "" {
				return differs + "\n" + r.status("early")
			}
			return r.unsettled("early")
		})
	}
	for i := range objects / 4 { // while the lists are read
		remove(4 * i)
		create(objects + i)
	}
	equal()
	t.Logf("%d requests for lists, %d of them too old", p.Count("list"), p.Count("too old"))
	for _, resource := range []string{"configmaps", "serviceaccounts"} {
		if want := "the list of " + resource + " ended early after "; !strings.Contains(r.log.text(), want) {
			t.Errorf("the log does not say: %s…", want)
		}
	}

	// No watch goes on, so the lists are read again, and again.
	before := p.Count("list")
	p.Break(2, long, Fault{Chance: 1, Verbs: []string{"watch"}, Expire: true})
	p.Cut()
	for i := range objects / 4 {
		remove(4*i + 1)
		create(2*objects + i)
	}
	fixture.Eventually(t, time.Minute, pollInterval, func() string {
		if n := p.Count("list") - before; n < 20 {
			return fmt.Sprintf("%d requests for lists", n)
		}
		return ""
	})
	p.Break(3, long)
	equal()
	t.Logf("%d requests for lists, %d of them too old", p.Count("list"), p.Count("too old"))
}

// noise is text that does not compress to nothing.
func noise(dice *rand.Rand) string {
	b := make([]byte, 1500)
	for i := range b {
		b[i] = byte(dice.Uint32())
	}
	return hex.EncodeToString(b)
}

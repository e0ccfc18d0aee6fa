package replicas

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/test/fixture"
	"graphview.dev/test/oracle"
	"graphview.dev/test/peers"
)

// scene is some namespaces with objects, each with a view of it, and a view of all.
type scene struct {
	t          *testing.T
	client     client.Client
	namespaces []string
	views      map[[2]string]oracle.View // by namespace and name
	made       int
}

// newScene makes a scene when the replicas know each other.
func newScene(t *testing.T, namespaces int) *scene {
	t.Helper()
	settled(t, edges)
	s := &scene{t: t, client: fixture.Client(t, cluster.Config()), views: make(map[[2]string]oracle.View)}
	for range namespaces {
		name := fixture.Namespace(t, s.client, "shared")
		s.namespaces = append(s.namespaces, name)
		for range 3 {
			s.add(name)
		}
		s.declare(name, "own", "resource == 'configmaps'", name)
	}
	s.declare(s.namespaces[0], "all", "resource in ['configmaps', 'namespaces']")
	return s
}

// declare declares a view of the resources of some namespaces, without any of all.
func (s *scene) declare(namespace, name, resources string, of ...string) {
	s.t.Helper()
	within := ""
	if len(of) > 0 {
		within = fmt.Sprintf(", namespaces: {names: [%s]}", strings.Join(of, ", "))
	}
	text := fmt.Sprintf(`{apiVersion: graphview.dev/v1alpha1, kind: GraphView, metadata: {name: %s, namespace: %s}, spec: {queries: [{include: {resourceSelectorExpression: %q}}]%s}}`,
		name, namespace, resources, within)
	fixture.Kubectl(s.t, cluster, "apply", "-f", fixture.Manifest(s.t, text))
	view, err := oracle.ParseView([]byte(text))
	if err != nil {
		s.t.Fatal(err)
	}
	s.views[[2]string{namespace, name}] = view
}

// keys are the namespaces and names of the views, in the order that they have in each
// run of the same names.
func (s *scene) keys() [][2]string {
	return slices.SortedFunc(maps.Keys(s.views), func(a, b [2]string) int {
		return cmp.Or(cmp.Compare(slices.Index(s.namespaces, a[0]), slices.Index(s.namespaces, b[0])), cmp.Compare(a[1], b[1]))
	})
}

// add makes an object.
func (s *scene) add(namespace string) {
	s.t.Helper()
	s.made++
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprint("config-", s.made)}, Data: map[string]string{"n": strconv.Itoa(s.made)}}
	if err := s.client.Create(s.t.Context(), config); err != nil {
		s.t.Fatal(err)
	}
}

// change changes, adds or deletes an object.
func (s *scene) change(n uint64) {
	s.t.Helper()
	namespace := s.namespaces[n%uint64(len(s.namespaces))]
	var all corev1.ConfigMapList
	if err := s.client.List(s.t.Context(), &all, client.InNamespace(namespace)); err != nil {
		s.t.Fatal(err)
	}
	n /= uint64(len(s.namespaces))
	if len(all.Items) == 0 || n%3 == 0 {
		s.add(namespace)
		return
	}
	picked := &all.Items[n%uint64(len(all.Items))]
	var err error
	if n%3 == 1 {
		picked.Data = map[string]string{"n": strconv.FormatUint(n, 10)}
		err = s.client.Update(s.t.Context(), picked)
	} else {
		err = s.client.Delete(s.t.Context(), picked)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// equal waits until the readers of each view have what the oracle has.
func (s *scene) equal(readers []*reader) {
	s.t.Helper()
	for _, key := range s.keys() {
		view := s.views[key]
		eventually(s.t, func() string {
			want, err := oracle.Build(s.t.Context(), cluster.Config(), view)
			if err != nil {
				return err.Error()
			}
			for _, r := range readers {
				if r.namespace != key[0] || r.view != key[1] {
					continue
				}
				if diff := r.differs(want); diff != "" {
					return fmt.Sprintf("%v: %s", key, diff)
				}
			}
			return ""
		})
	}
}

// readers are one of each view at each replica.
func (s *scene) readers() []*reader {
	s.t.Helper()
	var all []*reader
	for _, key := range s.keys() {
		for _, edge := range edges {
			all = append(all, read(s.t, cluster.Config(), edge, key[0], key[1]))
		}
	}
	return all
}

// metric is a value at a replica; -1 where it cannot be read.
func metric(t *testing.T, of *peers.Replica, name string, labels ...string) float64 {
	t.Helper()
	value, err := of.Metric(t.Context(), name, labels...)
	if err != nil {
		return -1
	}
	return value
}

// owned is how many views the replicas hold as their owners.
func (s *scene) owned() (total int) {
	s.t.Helper()
	for _, edge := range edges {
		total += int(metric(s.t, edge, "graphview_views_held", "why", "owner"))
	}
	return total
}

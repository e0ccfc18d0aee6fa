package graph

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"
)

// A cluster has applications of a Deployment, its ReplicaSet, a Service, a ConfigMap, a Secret and
// a ServiceAccount, and pods that refer to all of them and to a node.
const (
	podsOfOne    = 20
	objectsOfOne = podsOfOne + 6
	podsOfNode   = 100
	appsOfSpace  = 50
)

// cluster is a graph of applications, and a lens whose roots are Deployments.
type cluster struct {
	g        *Graph
	lens     *Lens
	sources  map[string]SourceID
	versions uint64
}

func newCluster() *cluster {
	c := &cluster{g: New(nil), sources: map[string]SourceID{}}
	c.g.Update(func() {
		for _, kind := range []string{"Pod", "Node", "Deployment", "ReplicaSet", "Service", "ConfigMap", "Secret", "ServiceAccount"} {
			scope := ScopeNamespaced
			if kind == "Node" {
				scope = ScopeCluster
			}
			c.sources[kind] = c.g.AddSource(Kind{Kind: kind}, Resource{Version: "v1", Resource: kind}, scope)
		}
		c.lens = c.newLens()
	})
	return c
}

// newLens makes a lens with roots that shows everything. In Update.
func (c *cluster) newLens() *Lens {
	l := c.g.NewLens()
	l.SetRoots(true, Walk{Against: []ArcType{OwnerReference}})
	for kind, id := range c.sources {
		l.Watch(id)
		l.Use(Kind{Kind: kind}, Resource{Version: "v1", Resource: kind})
	}
	return l
}

// set adds an object, as a member of the lens. In Update.
func (c *cluster) set(kind, space, name string, labels map[string]string, refs []Reference) {
	o := c.object(space, name, labels, refs)
	c.lens.Select(c.g.Set(c.sources[kind], &o), Selection{Member: true, Root: kind == "Deployment", Hash: o.Hash})
}

// object returns an object as a watch would send it.
func (c *cluster) object(space, name string, labels map[string]string, refs []Reference) Object {
	c.versions++
	return Object{
		Namespace: space, Name: name, UID: "uid of " + name, Version: c.versions, Hash: c.versions,
		Labels: labels, References: refs,
	}
}

func byName(kind, space, name, field string) Reference {
	return Reference{Type: Direct, To: Kind{Kind: kind}, Namespace: space, Scope: ScopeNamespaced, Name: name, Field: field}
}

func ownedBy(kind, space, name string) []Reference {
	return []Reference{{
		Type: OwnerReference, To: Kind{Kind: kind}, Namespace: space, Scope: ScopeNamespaced, Name: name, UID: "uid of " + name,
		Controller: true, BlockOwnerDeletion: true,
	}}
}

func homeOf(application int) (space, name string) {
	return fmt.Sprintf("space-%03d", application/appsOfSpace), fmt.Sprintf("app-%05d", application)
}

// application adds an application. In Update.
func (c *cluster) application(i int) {
	space, name := homeOf(i)
	app := map[string]string{"app": name}
	uses := []Reference{
		byName("ConfigMap", space, name, "spec.template.spec.volumes[].configMap.name"),
		byName("Secret", space, name, "spec.template.spec.volumes[].secret.secretName"),
		byName("ServiceAccount", space, name, "spec.template.spec.serviceAccountName"),
	}
	for _, kind := range []string{"ConfigMap", "Secret", "ServiceAccount"} {
		c.set(kind, space, name, app, nil)
	}
	c.set("Service", space, name, app, []Reference{{
		Type: Direct, To: Kind{Kind: "Pod"}, Namespace: space, Scope: ScopeNamespaced, Field: "spec.selector",
		Selector: &Selector{Requirements: []Requirement{{Key: "app", Op: In, Values: []string{name}}}},
	}})
	c.set("Deployment", space, name, app, uses)
	c.set("ReplicaSet", space, name, app, append(ownedBy("Deployment", space, name), uses...))
	for p := range podsOfOne {
		o := c.pod(i, p, 0)
		c.lens.Select(c.g.Set(c.sources["Pod"], &o), Selection{Member: true, Hash: o.Hash})
	}
}

func podName(application, pod, generation int) string {
	return fmt.Sprintf("pod-%05d-%02d-%d", application, pod, generation)
}

// pod is one of an application's pods.
func (c *cluster) pod(application, pod, generation int) Object {
	space, name := homeOf(application)
	node := Reference{
		Type: Direct, To: Kind{Kind: "Node"}, Scope: ScopeCluster,
		Name: fmt.Sprintf("node-%04d", (application*podsOfOne+pod)/podsOfNode), Field: "spec.nodeName",
	}
	return c.object(space, podName(application, pod, generation), map[string]string{"app": name, "hash": name}, append(
		ownedBy("ReplicaSet", space, name), node,
		byName("ConfigMap", space, name, "spec.volumes[].configMap.name"),
		byName("Secret", space, name, "spec.volumes[].secret.secretName"),
		byName("ServiceAccount", space, name, "spec.serviceAccountName"),
	))
}

// filled makes a cluster of about so many vertices and returns how many
// applications that is.
func filled(vertices int) (c *cluster, applications int) {
	c = newCluster()
	applications = max(1, vertices/objectsOfOne)
	c.g.Update(func() {
		for i := range (applications*podsOfOne + podsOfNode - 1) / podsOfNode {
			c.set("Node", "", fmt.Sprintf("node-%04d", i), nil, nil)
		}
	})
	for i := range applications {
		c.g.Update(func() { c.application(i) })
	}
	return c, applications
}

// percentiles reports the median and the 99th of what single operations took.
func percentiles(b *testing.B, took []time.Duration) {
	b.Helper()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2]), "p50-ns")
	b.ReportMetric(float64(took[len(took)*99/100]), "p99-ns")
}

// BenchmarkReplacePod deletes a pod and makes another in one revision each, as the API server
// sends them. Its cost must not depend on the size of the graph. The percentiles are of the two
// revisions together; ns/op has the making of the object too.
func BenchmarkReplacePod(b *testing.B) {
	for _, vertices := range []int{1_000, 10_000, 120_000} {
		b.Run(strconv.Itoa(vertices), func(b *testing.B) {
			c, applications := filled(vertices)
			counts := c.lens.Counts()
			took := make([]time.Duration, 0, 1<<20)
			pods := c.sources["Pod"]
			i := 0
			runtime.GC()
			b.ReportAllocs()
			for b.Loop() {
				// One far from the last, so that no cache is of help that a cluster would not have.
				application, generation := i*7919%applications, i/applications
				space, _ := homeOf(application)
				old := podName(application, 0, generation)
				o := c.pod(application, 0, generation+1)
				started := time.Now()
				c.g.Update(func() { c.g.Remove(pods, space, old) })
				c.g.Update(func() { c.lens.Select(c.g.Set(pods, &o), Selection{Member: true, Hash: o.Hash}) })
				took = append(took, time.Since(started))
				i++
			}
			if n := c.lens.Counts(); n.Vertices != counts.Vertices || n.Arcs != counts.Arcs {
				b.Fatalf("the graph has become %+v, want %+v", n, counts)
			}
			percentiles(b, took)
			b.ReportMetric(float64(counts.Vertices), "vertices")
			b.ReportMetric(float64(counts.Arcs), "arcs")
		})
	}
}

// BenchmarkLoseHub takes the one vertex away that 40,000 others are reached
// through.
func BenchmarkLoseHub(b *testing.B) {
	const pods = 40_000
	c, _ := filled(120_000 - pods)
	const space = "hub"
	c.g.Update(func() {
		c.set("Deployment", space, space, nil, nil)
		c.set("ReplicaSet", space, space, nil, ownedBy("Deployment", space, space))
		for i := range pods {
			c.set("Pod", space, fmt.Sprintf("pod-%05d", i), nil, ownedBy("ReplicaSet", space, space))
		}
	})
	before := c.lens.Counts().Vertices
	b.ReportAllocs()
	for b.Loop() {
		c.g.Update(func() { c.g.Remove(c.sources["ReplicaSet"], space, space) })
		b.StopTimer()
		if lost := before - c.lens.Counts().Vertices; lost != pods+1 {
			b.Fatalf("%d vertices went, want %d", lost, pods+1)
		}
		c.g.Update(func() { c.set("ReplicaSet", space, space, nil, ownedBy("Deployment", space, space)) })
		b.StartTimer()
	}
}

// BenchmarkSelectors finds those of 10,000 selectors of a namespace that match a
// pod.
func BenchmarkSelectors(b *testing.B) {
	const selectors, space = 10_000, "space"
	c := newCluster()
	labels := map[string]string{"app": "app-00042", "hash": "5d9c7b", "tier": "front"}
	c.g.Update(func() {
		c.set("Pod", space, "pod", labels, nil)
		for i := range selectors {
			name := fmt.Sprintf("app-%05d", i)
			c.set("Service", space, name, nil, []Reference{{
				Type: Direct, To: Kind{Kind: "Pod"}, Namespace: space, Scope: ScopeNamespaced, Field: "spec.selector",
				Selector: &Selector{Requirements: []Requirement{
					{Key: "app", Op: In, Values: []string{name}}, {Key: "tier", Op: In, Values: []string{"front"}},
				}},
			}})
		}
	})
	at := c.g.nodes.at(nodeID(c.g.Find(c.sources["Pod"], space, "pod"))).slot
	if n := c.g.slots.at(at).selected; n != 1 {
		b.Fatalf("%d selectors match, want 1", n)
	}
	b.ReportAllocs()
	for b.Loop() {
		c.g.relabelled(at)
	}
}

// BenchmarkMemory weighs what a vertex, its arcs, and a further lens with all
// vertices cost, without content.
func BenchmarkMemory(b *testing.B) {
	const vertices = 120_000
	for b.Loop() {
		weighLenses(b, vertices)
		weighVertices(b, vertices)
	}
}

func weighLenses(b *testing.B, vertices int) {
	b.Helper()
	empty := allocated()
	c, _ := filled(vertices)
	c.g.Update(func() { c.lens.Close() })
	c.drain()
	whole := allocated()
	lens := c.addLens()
	first := allocated()
	another := c.addLens()
	second := allocated()
	size := c.g.Size()
	b.ReportMetric(float64(whole-empty)/float64(size.Nodes), "B/vertex+arcs")
	b.ReportMetric(float64(first-whole)/float64(size.Nodes), "B/vertex-of-first-lens")
	b.ReportMetric(float64(second-first)/float64(size.Nodes), "B/vertex-of-next-lens")
	b.ReportMetric(float64(size.Arcs)/float64(size.Nodes), "arcs/vertex")
	runtime.KeepAlive([]*Lens{lens, another})
}

// weighVertices weighs as many vertices without arcs.
func weighVertices(b *testing.B, vertices int) {
	b.Helper()
	empty := allocated()
	c := newCluster()
	for i := range vertices {
		space, name := homeOf(i / objectsOfOne)
		c.g.Update(func() {
			c.set("Pod", space, podName(i/objectsOfOne, i%objectsOfOne, 0), map[string]string{"app": name, "hash": name}, nil)
		})
	}
	c.g.Update(func() { c.lens.Close() })
	c.drain()
	b.ReportMetric(float64(allocated()-empty)/float64(vertices), "B/vertex")
	runtime.KeepAlive(c)
}

// addLens makes a lens with every object.
func (c *cluster) addLens() *Lens {
	var l *Lens
	nodes := c.g.Size().Nodes // nothing was deleted: they are numbered from 1 on
	c.g.Update(func() {
		l = c.newLens()
		for id := 1; id <= nodes; id++ {
			n := c.g.nodes.at(nodeID(id))
			deployment := c.g.slots.at(n.slot).kind == c.g.kinds.find(Kind{Kind: "Deployment"})
			l.Select(NodeID(id), Selection{Member: true, Root: deployment, Hash: n.hash})
		}
	})
	return l
}

// allocated is the heap after a garbage collection.
func allocated() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

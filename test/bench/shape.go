package main

import "fmt"

// perApplication is the number of an application's objects beside its pods: Deployment,
// ReplicaSet, Service, ConfigMap, Secret and ServiceAccount.
const perApplication = 6

// podsPerNode is the number of pods of a node.
const podsPerNode = 100

// shape is the size of the load.
type shape struct {
	namespaces, applications, pods int // applications in a namespace, pods of one
}

// shapeOf returns the shape of about so many objects. Objects for less than one full namespace
// have fewer applications.
func shapeOf(objects, applications, pods int) shape {
	one := pods + perApplication
	if objects < applications*one {
		return shape{1, max(1, objects/one), pods}
	}
	return shape{(objects + applications*one/2) / (applications * one), applications, pods}
}

func (s shape) allPods() int { return s.namespaces * s.applications * s.pods }

func (s shape) nodes() int { return (s.allPods() + podsPerNode - 1) / podsPerNode }

// objects counts the objects of the load that the view selects: those of the applications, the
// nodes, and in each namespace the ConfigMap that every pod mounts. Namespaces
// do not count.
func (s shape) objects() int {
	return s.namespaces*s.applications*(s.pods+perApplication) + s.nodes() + s.namespaces
}

func (s shape) String() string {
	return fmt.Sprintf("%d namespaces × %d applications × %d pods", s.namespaces, s.applications, s.pods)
}

func (shape) namespace(i int) string { return fmt.Sprintf("bench-%03d", i) }

func (s shape) node(pod int) string { return fmt.Sprintf("node-%05d", pod%s.nodes()) }

package health

import (
	"strconv"
	"time"

	"graphview.dev/graphview/jsontree"
)

// fields are the members of an object, or of a part of one.
type fields map[string]any

func (f fields) below(path ...string) fields {
	for _, name := range path {
		next, _ := f[name].(map[string]any)
		f = next
	}
	return f
}

// text is a string at a path, "" for anything else.
func (f fields) text(path ...string) string {
	s, _ := f.below(path[:len(path)-1]...)[path[len(path)-1]].(string)
	return s
}

// number is a whole number at a path. Some projects write theirs as text.
func (f fields) number(path ...string) (n int64, found bool) {
	switch v := f.below(path[:len(path)-1]...)[path[len(path)-1]].(type) {
	case int64:
		return v, true
	case float64:
		return int64(v), true
	case string:
		n, err := strconv.ParseInt(v, 10, 64)
		return n, err == nil
	}
	return 0, false
}

func (f fields) numberOr(otherwise int64, path ...string) int64 {
	if n, found := f.number(path...); found {
		return n
	}
	return otherwise
}

func (f fields) isTrue(path ...string) bool {
	b, _ := f.below(path[:len(path)-1]...)[path[len(path)-1]].(bool)
	return b
}

// each calls yield for the objects of a list at a path.
func (f fields) each(yield func(fields) bool, path ...string) {
	list, _ := f.below(path[:len(path)-1]...)[path[len(path)-1]].([]any)
	for _, element := range list {
		if object, isObject := element.(map[string]any); isObject && !yield(object) {
			return
		}
	}
}

func (f fields) length(path ...string) int {
	list, _ := f.below(path[:len(path)-1]...)[path[len(path)-1]].([]any)
	return len(list)
}

// seconds is a time in RFC 3339, in seconds since 1970, 0 for what is none.
func seconds(text string) int64 {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return 0
	}
	return at.Unix()
}

// Shape is what Of looks at, of any kind.
var Shape = func() *jsontree.Shape {
	shape := &jsontree.Shape{}
	metadata, spec, status := shape.Field("metadata"), shape.Field("spec"), shape.Field("status")
	for _, name := range []string{"generation", "deletionTimestamp", "creationTimestamp"} {
		metadata.Field(name)
	}
	metadata.Field("annotations").Field(hpaConditions)
	for _, name := range []string{
		"replicas", "suspend", "suspended", "paused", "parallelism", "completions", "progressDeadlineSeconds", "type", "clusterIP",
		"restartPolicy", "unschedulable", "backoffLimit", "instances",
	} {
		spec.Field(name)
	}
	strategy := spec.Field("updateStrategy")
	strategy.Field("type")
	strategy.Field("rollingUpdate").Field("partition")

	for _, name := range []string{
		"observedGeneration", "phase", "state", "reason", "replicas", "readyReplicas", "availableReplicas", "updatedReplicas", "currentReplicas",
		"fullyLabeledReplicas", "currentRevision", "updateRevision", "desiredNumberScheduled", "currentNumberScheduled",
		"updatedNumberScheduled", "numberAvailable", "numberReady", "succeeded", "failed", "active", "startTime", "completionTime",
		"currentHealthy", "desiredHealthy", "robustness", "printableStatus", "readyInstances", "instances", "number_ready_instances", "PostgresClusterStatus",
	} {
		status.Field(name)
	}
	// A word in some projects, an object with one in others.
	health := status.Field("health")
	health.Field("status")
	health.Field("lastTransitionTime")
	status.Field("sync").Field("status")
	status.Field("ceph").Field("health")
	status.Field("applicationState").Field("state")
	status.Field("loadBalancer").Field("ingress").First(1)
	most := int(elements.Limit()) + 1 // with one more a list is too long
	conditions := func(of *jsontree.Shape, most int) {
		condition := of.Field("conditions").First(most)
		for _, name := range []string{"type", "status", "reason", "lastTransitionTime"} {
			condition.Field(name)
		}
	}
	conditions(status, most)
	conditions(status.Field("parents").First(most), perParent+1)
	for _, list := range []string{"initContainerStatuses", "containerStatuses"} {
		container := status.Field(list).First(most)
		container.Field("ready")
		container.Field("restartCount")
		state := container.Field("state")
		state.Field("waiting").Field("reason")
		terminated := state.Field("terminated")
		terminated.Field("reason")
		terminated.Field("exitCode")
		last := container.Field("lastState").Field("terminated")
		last.Field("reason")
		last.Field("exitCode")
	}
	return shape
}()

package health

import (
	"strconv"
	"time"

	"graphview.dev/graphview/jsontree"
)

// fields are the members of an object: of a tree, or where that is nil, as they were read.
type fields struct {
	tree map[string]any
	read jsontree.Value
}

func (f fields) below(path ...string) fields {
	for _, name := range path {
		if f.tree == nil {
			f.read = f.read.Member(name)
			continue
		}
		next, isObject := f.tree[name].(map[string]any)
		if f.tree = next; !isObject {
			return fields{}
		}
	}
	return f
}

// owner is what has the last member of a path, and the name of that.
func (f fields) owner(path []string) (owner fields, name string) {
	last := len(path) - 1
	return f.below(path[:last]...), path[last]
}

// text is a string at a path, "" for anything else.
func (f fields) text(path ...string) string {
	owner, name := f.owner(path)
	if owner.tree == nil {
		said, _ := owner.read.Member(name).Text()
		return spoken(said)
	}
	s, _ := owner.tree[name].(string)
	return s
}

// number is a whole number at a path. Some projects write theirs as text.
func (f fields) number(path ...string) (n int64, found bool) {
	owner, name := f.owner(path)
	if owner.tree == nil {
		value := owner.read.Member(name)
		if n, found = value.Int(); found {
			return n, true
		}
		said, isText := value.Text()
		if !isText {
			return 0, false
		}
		return numberIn(string(said))
	}
	switch v := owner.tree[name].(type) {
	case int64:
		return v, true
	case float64:
		return int64(v), true
	case string:
		return numberIn(v)
	}
	return 0, false
}

func numberIn(text string) (n int64, isNumber bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

func (f fields) numberOr(otherwise int64, path ...string) int64 {
	if n, found := f.number(path...); found {
		return n
	}
	return otherwise
}

func (f fields) isTrue(path ...string) bool {
	owner, name := f.owner(path)
	if owner.tree == nil {
		return owner.read.Member(name).IsTrue()
	}
	b, _ := owner.tree[name].(bool)
	return b
}

// each calls yield for the objects of a list at a path.
func (f fields) each(yield func(fields) bool, path ...string) {
	owner, name := f.owner(path)
	if owner.tree == nil {
		for element := range owner.read.Member(name).Elements {
			if element.IsObject() && !yield(fields{read: element}) {
				return
			}
		}
		return
	}
	list, _ := owner.tree[name].([]any)
	for _, element := range list {
		if object, isObject := element.(map[string]any); isObject && !yield(fields{tree: object}) {
			return
		}
	}
}

func (f fields) length(path ...string) (n int) {
	owner, name := f.owner(path)
	if owner.tree == nil {
		for range owner.read.Member(name).Elements {
			n++
		}
		return n
	}
	list, _ := owner.tree[name].([]any)
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

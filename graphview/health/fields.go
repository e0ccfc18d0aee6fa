package health

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"graphview.dev/graphview/jsontree"
)

// fields is a value in an object.
type fields struct{ jsontree.Value }

func (f fields) at(path ...string) fields { return fields{f.At(path...)} }

// text returns the string at a path, "" for anything else.
func (f fields) text(path ...string) string {
	said, _ := f.At(path...).Text()
	switch string(said) {
	case "":
		return ""
	case "True": // the status of most conditions
		return "True"
	}
	if m, known := words[string(said)]; known {
		return m.kind
	}
	return string(said)
}

// number returns the integer at a path. Some projects write integers as strings.
func (f fields) number(path ...string) (n int64, found bool) {
	v := f.At(path...)
	if n, found = v.Int(); found {
		return n, true
	}
	text, _ := v.Text()
	if len(text) == 0 {
		return 0, false
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	return n, err == nil
}

func (f fields) numberOr(otherwise int64, path ...string) int64 {
	if n, found := f.number(path...); found {
		return n
	}
	return otherwise
}

// seconds returns the RFC 3339 time at a path in seconds since 1970, 0 for anything else.
func (f fields) seconds(path ...string) int64 {
	text, _ := f.At(path...).Text()
	var at time.Time
	if len(text) == 0 || at.UnmarshalText(text) != nil {
		return 0
	}
	return at.Unix()
}

// paths splits dotted paths, which are separated by spaces.
func paths(dotted string) (all [][]string) {
	for path := range strings.FieldsSeq(dotted) {
		all = append(all, strings.Split(path, "."))
	}
	return all
}

// Shape has the fields that Of reads, of any kind.
var Shape = func() *jsontree.Shape {
	shape := &jsontree.Shape{}
	metadata, status := shape.Field("metadata"), shape.Field("status")
	ask(shape, paths(`metadata.generation metadata.deletionTimestamp spec.type
		spec.replicas spec.suspend spec.suspended spec.paused spec.parallelism spec.completions spec.progressDeadlineSeconds spec.instances
		spec.restartPolicy spec.unschedulable spec.updateStrategy.type spec.updateStrategy.rollingUpdate.partition`))
	ask(status, slices.Concat(paths(strings.Join(firstWords, " ")), paths(`observedGeneration reason error failureReason notAfter certificatesExpiryDate certificate
		replicas readyReplicas readyCount availableReplicas updatedReplicas currentReplicas fullyLabeledReplicas
		currentRevision updateRevision desiredNumberScheduled currentNumberScheduled updatedNumberScheduled numberAvailable numberReady
		succeeded startTime lastScheduleTime lastSuccessfulTime currentHealthy desiredHealthy readyInstances
		expectedMachines printableStatus health.status ceph.health operationState.phase allocatedResourceStatuses.storage`)))
	askWords(status, 1)
	askWords(status.Field("state"), 0)
	askWords(status.Field("statuses"), 1) // by namespace
	askWords(status.Field("health"), 0)
	askWords(status.Field("status"), 0)
	for _, name := range append(provisioning, hpaConditions) {
		metadata.Field("annotations", name)
	}
	metadata.Field("labels", headless)
	for _, list := range []*jsontree.Shape{metadata.Field("finalizers"), shape.Field("ports"), status.Field("active"), status.Field("loadBalancer", "ingress")} {
		list.First(1) // only whether there is an element
	}
	most := maxElements + 1 // one more than a list may have
	conditions(status, most)
	for _, list := range elementLists {
		conditions(status.Field(list).First(most), perElement+1)
	}
	shape.Field("endpoints").First(most).Field("conditions", "ready")
	for _, list := range containerLists {
		ask(status.Field(list).First(most), paths("ready state.waiting.reason state.terminated.reason state.terminated.exitCode lastState.terminated.reason lastState.terminated.exitCode"))
	}
	status.Field("connectorStatus", "tasks").First(maxElements).Field("state")
	return shape
}()

func ask(shape *jsontree.Shape, paths [][]string) {
	for _, path := range paths {
		shape.Field(path...)
	}
}

// conditions adds the conditions of a value to its shape, at most the first most.
func conditions(of *jsontree.Shape, most int) {
	ask(of.Field("conditions").First(most), paths("type status reason severity lastTransitionTime observedGeneration"))
}

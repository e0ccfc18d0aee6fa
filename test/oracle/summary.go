package oracle

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// summary is what a subscriber of summaries gets of an object, under the names of
// docs/stream.md. The health is that of docs/health.md, for the kinds that test
// workloads make.
func (o *object) summary(root bool) (any, error) {
	m := map[string]any{"k": text(o.tree, "kind"), "u": text(o.tree, "metadata.uid")}
	if at := seconds(text(o.tree, "metadata.creationTimestamp")); at != 0 {
		m["t"] = at
	}
	labels, _ := at(o.tree, "metadata.labels").(map[string]any)
	for _, key := range []string{"app.kubernetes.io/part-of", "app.kubernetes.io/instance", "app.kubernetes.io/name", "app"} {
		if value, _ := labels[key].(string); value != "" {
			m["app"] = value
			break
		}
	}
	if root {
		m["root"] = true
	}
	healthOf(o.kind, o.tree).say(m)
	if deletion := o.deletion(); len(deletion) > 0 {
		m["del"] = deletion
	}
	return plain(m)
}

// deletion returns the properties of an object that decide what its deletion does, for the
// kinds that test workloads make: its finalizers, and that a pod has finished or has no node.
func (o *object) deletion() map[string]any {
	m := map[string]any{}
	if finalizers := items(o.tree, "metadata.finalizers"); len(finalizers) > 0 {
		m["f"] = finalizers[:min(len(finalizers), 16)]
	}
	if phase := text(o.tree, "status.phase"); o.kind == core("Pod") && (phase == "Succeeded" || phase == "Failed") {
		m["e"] = true
	}
	if o.kind == core("Pod") && text(o.tree, "status.phase") == "Pending" && text(o.tree, "spec.nodeName") == "" {
		m["u"] = true
	}
	return m
}

// condition is how an object is.
type condition struct {
	health, why    string
	since, overdue int64
	// untimed: the object does not say since when, so overdue follows from when the
	// engine first saw it so.
	untimed       bool
	ended         bool
	counted       bool
	ready, wanted int64
}

// anyTime stands for a time that only the engine knows.
const anyTime = -1

func (c condition) say(m map[string]any) {
	if c.health != "" {
		m["h"] = c.health
	}
	if c.why != "" {
		m["w"] = c.why
	}
	if c.since != 0 {
		m["s"] = c.since
	}
	if c.untimed {
		c.overdue = anyTime
	}
	if c.overdue != 0 {
		m["od"] = c.overdue
	}
	if c.ended {
		m["end"] = true
	}
	if c.counted {
		m["rd"] = []int64{c.ready, c.wanted}
	}
}

// patient is on its way, and degraded if that takes longer than ten minutes.
func patient(why string, since int64) condition {
	c := condition{health: "progressing", why: why, since: since, untimed: since == 0}
	if since != 0 {
		c.overdue = since + 600
	}
	return c
}

// healthOf knows the kinds that are made here. Any other kind is unknown.
func healthOf(kind schema.GroupKind, tree map[string]any) condition {
	if deleted := text(tree, "metadata.deletionTimestamp"); deleted != "" {
		return terminating(seconds(deleted), tree)
	}
	apps := kind.Group == "apps"
	var c condition
	switch {
	case apps && kind.Kind == "Deployment":
		c = deploymentHealth(tree)
	case apps && kind.Kind == "ReplicaSet":
		c = replicaSetHealth(tree)
	case kind == core("Pod"):
		c = podHealth(tree)
	case kind == core("Service"):
		switch {
		case text(tree, "spec.type") != "LoadBalancer":
			return condition{}
		case len(items(tree, "status.loadBalancer.ingress")) == 0:
			return patient("NoAddress", 0)
		}
		return condition{health: "ok"}
	case kind.Group == "discovery.k8s.io" && kind.Kind == "EndpointSlice":
		return sliceHealth(tree)
	case kind == core("Namespace"):
		return condition{health: "ok", why: text(tree, "status.phase")}
	case kind == core("PersistentVolumeClaim"):
		return claimHealth(tree)
	default:
		return condition{}
	}
	seen, _ := whole(at(tree, "status.observedGeneration"))
	if generation := count(tree, "metadata.generation"); c.health == "ok" && seen > 0 && seen < generation {
		old := patient("LatestGenerationNotObserved", 0)
		old.counted, old.ready, old.wanted = c.counted, c.ready, c.wanted
		return old
	}
	return c
}

// terminating is of kinds whose conditions do not say why they are still there.
func terminating(since int64, tree map[string]any) condition {
	c := condition{health: "terminating", since: since, overdue: since + 600}
	for _, of := range items(tree, "status.conditions") {
		if kind := text(of, "type"); text(of, "status") == "True" && strings.HasSuffix(kind, "Remaining") {
			c.why = first(text(of, "reason"), kind)
			return c
		}
	}
	if len(items(tree, "metadata.finalizers")) > 0 {
		c.why = "FinalizersRemaining"
	}
	return c
}

func sliceHealth(tree map[string]any) condition {
	var c condition
	for _, endpoint := range items(tree, "endpoints") {
		c.counted = true
		c.wanted++
		if at(endpoint, "conditions.ready") != false {
			c.ready++
		}
	}
	switch {
	case !c.counted:
		c.why = "NoEndpoints"
	case c.ready == 0:
		c.health, c.untimed = "progressing", true
	default:
		c.health = "ok"
	}
	return c
}

func claimHealth(tree map[string]any) condition {
	switch phase := text(tree, "status.phase"); phase {
	case "Bound":
		return condition{health: "ok"}
	case "Pending":
		annotations, _ := at(tree, "metadata.annotations").(map[string]any)
		for key := range annotations {
			if strings.HasSuffix(key, "/storage-provisioner") || strings.HasSuffix(key, "/selected-node") {
				return patient(phase, 0)
			}
		}
		return condition{why: "WaitForFirstConsumer"}
	default:
		return patient(first(phase, "NotBound"), 0)
	}
}

// deploymentHealth returns the health of a Deployment with a progress deadline, which the
// API server's defaults set.
func deploymentHealth(tree map[string]any) condition {
	wanted := count(tree, "spec.replicas")
	replicas, updated := count(tree, "status.replicas"), count(tree, "status.updatedReplicas")
	ready, available := count(tree, "status.readyReplicas"), count(tree, "status.availableReplicas")
	progress, failed, up := conditionOf(tree, "Progressing"), conditionOf(tree, "ReplicaFailure"), conditionOf(tree, "Available")
	done := text(progress, "status") == "True" && text(progress, "reason") == "NewReplicaSetAvailable"
	why, behind := "", true
	switch {
	case text(failed, "status") == "True":
		c := condition{health: "degraded", why: text(failed, "reason"), since: seconds(text(failed, "lastTransitionTime"))}
		c.counted, c.ready, c.wanted = true, ready, wanted
		return c
	case text(progress, "reason") == "ProgressDeadlineExceeded":
		c := condition{health: "degraded", why: "ProgressDeadlineExceeded", since: seconds(text(progress, "lastTransitionTime"))}
		c.counted, c.ready, c.wanted = true, ready, wanted
		return c
	case replicas < wanted:
		why = "ScalingUp"
	case updated < wanted:
		why = "RollingOut"
	case replicas > wanted:
		why = "ScalingDown"
	case ready < wanted, !done && available >= updated && text(up, "status") == "True":
		why = ""
	case available < updated, text(up, "status") != "True":
		why = "NotAvailable"
	default:
		behind = false
	}
	var c condition
	switch {
	case !behind:
		c = condition{health: "ok", since: seconds(text(up, "lastTransitionTime"))}
	case !done:
		c = condition{health: "progressing", why: "RollingOut", since: seconds(text(progress, "lastTransitionTime"))}
	case text(up, "status") == "False":
		c = patient(why, seconds(text(up, "lastTransitionTime")))
		c.overdue = c.since + max(600, count(tree, "spec.progressDeadlineSeconds"))
	default:
		c = patient(why, 0)
	}
	c.counted, c.ready, c.wanted = true, ready, wanted
	return c
}

func replicaSetHealth(tree map[string]any) condition {
	wanted, ready := count(tree, "spec.replicas"), count(tree, "status.readyReplicas")
	var c condition
	switch failed := conditionOf(tree, "ReplicaFailure"); {
	case text(failed, "status") == "True":
		c = condition{health: "degraded", why: text(failed, "reason"), since: seconds(text(failed, "lastTransitionTime"))}
	case count(tree, "status.fullyLabeledReplicas") < wanted:
		c = patient("ScalingUp", 0)
	case ready < wanted:
		c = patient("", 0)
	case count(tree, "status.availableReplicas") < wanted:
		c = patient("NotAvailable", 0)
	case count(tree, "status.replicas") > wanted:
		c = patient("ScalingDown", 0)
	default:
		c = condition{health: "ok"}
	}
	c.counted, c.ready, c.wanted = true, ready, wanted
	return c
}

func podHealth(tree map[string]any) condition {
	c := podPhaseHealth(tree)
	for _, container := range items(tree, "status.containerStatuses") {
		c.counted = true
		c.wanted++
		if at(container, "ready") == true {
			c.ready++
		}
	}
	return c
}

// podPhaseHealth is of a pod without init containers.
func podPhaseHealth(tree map[string]any) condition {
	containers := items(tree, "status.containerStatuses")
	readiness := conditionOf(tree, "Ready")
	since := seconds(text(readiness, "lastTransitionTime"))
	phase := text(tree, "status.phase")
	switch phase {
	case "Succeeded":
		return condition{health: "ok", why: "Succeeded", since: since}
	case "Failed":
		why := text(tree, "status.reason")
		for _, container := range containers {
			if code, ended := whole(at(container, "state.terminated.exitCode")); ended && code != 0 && why == "" {
				why = text(container, "state.terminated.reason")
			}
		}
		return condition{health: "degraded", why: first(why, "Failed"), since: since, ended: true}
	}
	waits := ""
	for _, container := range containers {
		reason := text(container, "state.waiting.reason")
		if !slices.Contains([]string{"", "PodInitializing", "ContainerCreating"}, reason) {
			return condition{health: "degraded", why: reason, since: since}
		}
		waits = first(waits, reason)
	}
	if phase == "Running" {
		if text(readiness, "status") == "True" {
			return condition{health: "ok", since: since}
		}
		policy, done := text(tree, "spec.restartPolicy"), false
		for _, container := range containers {
			code, ended := whole(at(container, "state.terminated.exitCode"))
			if ended && code != 0 && policy == "Never" {
				return condition{health: "degraded", why: first(text(container, "state.terminated.reason"), "Error"), since: since}
			}
			done = done || ended && code == 0
			if ended && code == 0 {
				continue
			}
			if code, ended := whole(at(container, "lastState.terminated.exitCode")); ended && code != 0 && at(container, "ready") != true {
				return condition{health: "degraded", why: first(text(container, "lastState.terminated.reason"), "Error"), since: since}
			}
		}
		c := patient(first(text(readiness, "reason"), "NotReady"), since)
		if done && policy != "Always" {
			c.overdue, c.untimed = 0, false
		}
		return c
	}
	scheduled := conditionOf(tree, "PodScheduled")
	if text(scheduled, "status") == "False" {
		c := condition{health: "progressing", why: first(text(scheduled, "reason"), "NotScheduled"), since: seconds(text(scheduled, "lastTransitionTime"))}
		if c.why == "Unschedulable" && c.since != 0 {
			c.overdue = c.since + 15
		}
		return c
	}
	return patient(first(waits, "Pending"), seconds(text(scheduled, "lastTransitionTime")))
}

// conditionOf is one of status.conditions, nil if there is none of that type.
func conditionOf(tree any, kind string) any {
	for _, c := range items(tree, "status.conditions") {
		if text(c, "type") == kind {
			return c
		}
	}
	return nil
}

// count is a number that is 0 where it is absent.
func count(tree any, path string) int64 {
	n, _ := whole(at(tree, path))
	return n
}

func whole(value any) (int64, bool) {
	switch n := value.(type) {
	case int64:
		return n, true
	case float64:
		return int64(n), true
	}
	return 0, false
}

func seconds(text string) int64 {
	at, err := time.Parse(time.RFC3339, strings.TrimSpace(text))
	if err != nil {
		return 0
	}
	return at.Unix()
}

package oracle

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// summary is the summary of an object, with the names of
// docs/stream.md and the health of docs/health.md, for the kinds that test
// workloads create.
type summary struct {
	Kind    string `json:"k"`
	UID     string `json:"u"`
	Created int64  `json:"t,omitempty"`
	App     string `json:"app,omitempty"`
	Root    bool   `json:"root,omitempty"`
	condition
	Deletion  map[string]any `json:"del,omitempty"`
	Selects   *selected      `json:"sel,omitempty"`
	PodLabels any            `json:"pl,omitempty"`
}

// condition is the health of an object.
type condition struct {
	Health string `json:"h,omitempty"`
	Why    string `json:"w,omitempty"`
	Since  int64  `json:"s,omitempty"`
	// Overdue is anyTime if the object does not have the time of its health: then it follows from the time at
	// which the engine first saw this health.
	Overdue int64 `json:"od,omitempty"`
	Ended   bool  `json:"end,omitempty"`
	// Ready has the numbers of ready and of wanted parts.
	Ready []int64 `json:"rd,omitempty"`
}

// anyTime stands for a time that only the engine knows.
const anyTime = -1

// of adds the numbers of ready and wanted parts.
func (c condition) of(ready, wanted int64) condition {
	c.Ready = []int64{ready, wanted}
	return c
}

func (o *object) summary(root bool) (any, error) {
	s := summary{
		Kind: text(o.tree, "kind"), UID: text(o.tree, "metadata.uid"), Created: seconds(text(o.tree, "metadata.creationTimestamp")),
		Root: root, condition: healthOf(o.kind, o.tree), Deletion: o.deletion(), Selects: o.selects(), PodLabels: o.podLabels(),
	}
	labels, _ := at(o.tree, "metadata.labels").(map[string]any)
	for _, key := range []string{"app.kubernetes.io/part-of", "app.kubernetes.io/instance", "app.kubernetes.io/name", "app"} {
		if s.App, _ = labels[key].(string); s.App != "" {
			break
		}
	}
	return plain(s)
}

// deletion returns the properties of an object that matter for its deletion, for the
// kinds that test workloads create: its finalizers, and that a pod has finished or has no node.
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

// patient returns progressing, which becomes degraded after ten minutes.
func patient(why string, since int64) condition {
	c := condition{Health: "progressing", Why: why, Since: since, Overdue: anyTime}
	if since != 0 {
		c.Overdue = since + 600
	}
	return c
}

// healthOf returns the health of the kinds that tests create. Other kinds have none.
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
		return condition{Health: "ok"}
	case kind.Group == "discovery.k8s.io" && kind.Kind == "EndpointSlice":
		return sliceHealth(tree)
	case kind == core("Namespace"):
		return condition{Health: "ok", Why: text(tree, "status.phase")}
	case kind == core("PersistentVolumeClaim"):
		return claimHealth(tree)
	default:
		return condition{}
	}
	seen, _ := whole(at(tree, "status.observedGeneration"))
	if generation := count(tree, "metadata.generation"); c.Health == "ok" && seen > 0 && seen < generation {
		old := patient("LatestGenerationNotObserved", 0)
		old.Ready = c.Ready
		return old
	}
	return c
}

// terminating returns the health of an object that is being deleted. The reason of a Namespace is its failure or the
// objects that it waits for.
func terminating(since int64, tree map[string]any) condition {
	c := condition{Health: "terminating", Since: since, Overdue: since + 600}
	for _, of := range items(tree, "status.conditions") {
		switch kind := text(of, "type"); {
		case text(of, "status") != "True":
		case strings.HasSuffix(kind, "Failure"):
			c.Why = kind
			return c
		case strings.HasSuffix(kind, "Remaining") && c.Why == "":
			c.Why = cmp.Or(text(of, "reason"), kind)
		}
	}
	if c.Why == "" && len(items(tree, "metadata.finalizers")) > 0 {
		c.Why = "FinalizersRemaining"
	}
	return c
}

func sliceHealth(tree map[string]any) condition {
	ready, wanted := int64(0), int64(0)
	for _, endpoint := range items(tree, "endpoints") {
		wanted++
		if at(endpoint, "conditions.ready") != false {
			ready++
		}
	}
	switch {
	case wanted == 0:
		return condition{Why: "NoEndpoints"}
	case ready == 0:
		return patient("", 0).of(ready, wanted)
	default:
		return condition{Health: "ok"}.of(ready, wanted)
	}
}

func claimHealth(tree map[string]any) condition {
	switch phase := text(tree, "status.phase"); phase {
	case "Bound":
		return condition{Health: "ok"}
	case "Pending":
		annotations, _ := at(tree, "metadata.annotations").(map[string]any)
		for key := range annotations {
			if strings.HasSuffix(key, "/storage-provisioner") || strings.HasSuffix(key, "/selected-node") {
				return patient(phase, 0)
			}
		}
		return condition{Why: "WaitForFirstConsumer"}
	default:
		return patient(cmp.Or(phase, "NotBound"), 0)
	}
}

// degraded returns the health with the reason and the time of a condition.
func degraded(because any) condition {
	return condition{Health: "degraded", Why: text(because, "reason"), Since: transition(because)}
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
		return degraded(failed).of(ready, wanted)
	case text(progress, "reason") == "ProgressDeadlineExceeded":
		return degraded(progress).of(ready, wanted)
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
		c = condition{Health: "ok", Since: transition(up)}
	case !done:
		c = condition{Health: "progressing", Why: "RollingOut", Since: transition(progress)}
	case text(up, "status") == "False":
		c = patient(why, transition(up))
		c.Overdue = c.Since + max(600, count(tree, "spec.progressDeadlineSeconds"))
	default:
		c = patient(why, 0)
	}
	return c.of(ready, wanted)
}

func replicaSetHealth(tree map[string]any) condition {
	wanted, ready := count(tree, "spec.replicas"), count(tree, "status.readyReplicas")
	var c condition
	switch failed := conditionOf(tree, "ReplicaFailure"); {
	case text(failed, "status") == "True":
		c = degraded(failed)
	case count(tree, "status.fullyLabeledReplicas") < wanted:
		c = patient("ScalingUp", 0)
	case ready < wanted:
		c = patient("", 0)
	case count(tree, "status.availableReplicas") < wanted:
		c = patient("NotAvailable", 0)
	case count(tree, "status.replicas") > wanted:
		c = patient("ScalingDown", 0)
	default:
		c = condition{Health: "ok"}
	}
	return c.of(ready, wanted)
}

func podHealth(tree map[string]any) condition {
	c, containers, ready := podPhaseHealth(tree), items(tree, "status.containerStatuses"), int64(0)
	for _, container := range containers {
		if at(container, "ready") == true {
			ready++
		}
	}
	if len(containers) == 0 {
		return c
	}
	return c.of(ready, int64(len(containers)))
}

// podPhaseHealth returns the health of a pod without init containers.
func podPhaseHealth(tree map[string]any) condition {
	containers := items(tree, "status.containerStatuses")
	readiness := conditionOf(tree, "Ready")
	since := transition(readiness)
	phase := text(tree, "status.phase")
	switch phase {
	case "Succeeded":
		return condition{Health: "ok", Why: "Succeeded", Since: since}
	case "Failed":
		why := text(tree, "status.reason")
		for _, container := range containers {
			if code, ended := whole(at(container, "state.terminated.exitCode")); ended && code != 0 && why == "" {
				why = text(container, "state.terminated.reason")
			}
		}
		return condition{Health: "degraded", Why: cmp.Or(why, "Failed"), Since: since, Ended: true}
	}
	waits := ""
	for _, container := range containers {
		reason := text(container, "state.waiting.reason")
		if !slices.Contains([]string{"", "PodInitializing", "ContainerCreating"}, reason) {
			return condition{Health: "degraded", Why: reason, Since: since}
		}
		waits = cmp.Or(waits, reason)
	}
	if phase == "Running" {
		if text(readiness, "status") == "True" {
			return condition{Health: "ok", Since: since}
		}
		policy, done := text(tree, "spec.restartPolicy"), false
		for _, container := range containers {
			code, ended := whole(at(container, "state.terminated.exitCode"))
			if ended && code != 0 && policy == "Never" {
				return condition{Health: "degraded", Why: cmp.Or(text(container, "state.terminated.reason"), "Error"), Since: since}
			}
			done = done || ended && code == 0
			if ended && code == 0 {
				continue
			}
			if code, ended := whole(at(container, "lastState.terminated.exitCode")); ended && code != 0 && at(container, "ready") != true {
				return condition{Health: "degraded", Why: cmp.Or(text(container, "lastState.terminated.reason"), "Error"), Since: since}
			}
		}
		c := patient(cmp.Or(text(readiness, "reason"), "NotReady"), since)
		if done && policy != "Always" {
			c.Overdue = 0
		}
		return c
	}
	scheduled := conditionOf(tree, "PodScheduled")
	if text(scheduled, "status") == "False" {
		c := condition{Health: "progressing", Why: cmp.Or(text(scheduled, "reason"), "NotScheduled"), Since: transition(scheduled)}
		if c.Why == "Unschedulable" && c.Since != 0 {
			c.Overdue = c.Since + 15
		}
		return c
	}
	return patient(cmp.Or(waits, "Pending"), transition(scheduled))
}

// conditionOf returns the condition of a type in status.conditions, nil if there is none.
func conditionOf(tree any, kind string) any {
	for _, c := range items(tree, "status.conditions") {
		if text(c, "type") == kind {
			return c
		}
	}
	return nil
}

// count returns the number at a path, 0 if it is absent.
func count(tree any, path string) int64 {
	n, _ := whole(at(tree, path))
	return n
}

// transition returns the time of the last change of a condition.
func transition(condition any) int64 { return seconds(text(condition, "lastTransitionTime")) }

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

package health

import (
	"cmp"
	"strings"

	"graphview.dev/graphview/jsontree"
)

// Kind is the group and the kind of an object.
type Kind struct{ Group, Kind string }

// rule says how to judge the objects of one kind for which the general rules would be wrong.
type rule struct {
	// judge is called if [object.general] does not decide.
	judge func(*object) Health
	// says describes the rule; it is empty for Kubernetes' own kinds.
	says string
	// count returns how many parts are ready, and how many the spec wants.
	count func(*object) (ready, wanted int64, counted bool)
}

var noRule rule

// kinds are the kinds with a rule. The comment at each judge says which general rule it overrides.
// The words of other projects are those of their own documentation or API types.
var kinds = map[Kind]*rule{
	{"", "Pod"}:                                {judge: pod, count: tally(containerReady, "status", "containerStatuses")},
	{"", "Service"}:                            {judge: serviceOrIngress},
	{"", "PersistentVolumeClaim"}:              {judge: volumeClaim},
	{"", "Node"}:                               {judge: node},
	{"", "ReplicationController"}:              {judge: replicaSet, count: readyReplicas},
	{"apps", "Deployment"}:                     {judge: deployment, count: readyReplicas},
	{"apps", "StatefulSet"}:                    {judge: statefulSet, count: readyReplicas},
	{"apps", "DaemonSet"}:                      {judge: daemonSet, count: countAt(0, "numberReady", "status", "desiredNumberScheduled")},
	{"apps", "ReplicaSet"}:                     {judge: replicaSet, count: readyReplicas},
	{"batch", "Job"}:                           {judge: job, count: completions},
	{"batch", "CronJob"}:                       {judge: cronJob},
	{"discovery.k8s.io", "EndpointSlice"}:      {judge: endpointSlice, count: tally(endpointReady, "endpoints")},
	{"policy", "PodDisruptionBudget"}:          {judge: disruptionBudget, count: countAt(0, "currentHealthy", "status", "desiredHealthy")},
	{"autoscaling", "HorizontalPodAutoscaler"}: {judge: autoscaler},
	{"networking.k8s.io", "Ingress"}:           {judge: serviceOrIngress},
	// Without the condition, the declarations of these objects are not served yet.
	{"certificates.k8s.io", "CertificateSigningRequest"}: {judge: signingRequest},
	{"apiregistration.k8s.io", "APIService"}:             {judge: conditionOf("Available"), says: "the condition Available"},
	{"apiextensions.k8s.io", "CustomResourceDefinition"}: {judge: conditionOf("Established"), says: "the condition Established"},
	{"argoproj.io", "Application"}:                       {judge: application, says: "the word in status.health.status, unless the last operation failed"},
	{"argoproj.io", "Rollout"}:                           {judge: judgeByWord("phase"), says: "the word in status.phase", count: readyReplicas}, // Available is False in each blue-green switch
	{"acme.cert-manager.io", "Order"}:                    {judge: acme, says: "the word in status.state"},
	{"acme.cert-manager.io", "Challenge"}:                {judge: acme, says: "the word in status.state"},
	{"ceph.rook.io", "CephCluster"}:                      {judge: judgeByWord("ceph", "health"), says: "the word in status.ceph.health"}, // Ready is about Rook
	{"kafka.strimzi.io", "KafkaConnector"}:               {judge: connector, says: "as any kind, or the worst state of status.connectorStatus.tasks"},
	{"kubevirt.io", "VirtualMachine"}:                    {judge: judgeByWord("printableStatus"), says: "the word in status.printableStatus"}, // Ready is False if it is stopped
	{"graphview.dev", "GraphView"}:                       {judge: conditionOf("Ready"), says: "the condition Ready; Healthy is about the objects of the view, of which it may be one"},
	{"postgresql.cnpg.io", "Cluster"}:                    {count: countAt(0, "readyInstances", "spec", "instances")},
}

// conditionOf judges by a condition. Without it the object is not observed yet.
func conditionOf(kind string) func(*object) Health {
	return func(o *object) Health { return cmp.Or(o.readiness(kind), notObserved()) }
}

// judgeByWord judges by a word in a field of the status.
func judgeByWord(path ...string) func(*object) Health {
	return func(o *object) Health { return o.byWord(path...) }
}

// application overrides the general rules because its health is a word one level deeper, and its
// conditions are only about errors.
func application(o *object) Health {
	h := o.byWord("health", "status")
	if h.State != Degraded && o.byWord("operationState", "phase").State == Degraded {
		return degraded("OperationFailed", 0)
	}
	return h
}

// connector overrides the general rules because a connector stays Ready while its tasks fail.
func connector(o *object) Health {
	h := o.conventional()
	for task := range o.status.At("connectorStatus", "tasks").Objects {
		if said := o.judgeWord(fields{task}.text("state")); said.State == Degraded {
			h = worseOf(h, said)
		}
	}
	return h
}

// acme overrides the general rules because ready only means that the controller may now ask the server
// for the certificate.
func acme(o *object) Health {
	h := o.byWord("state")
	if h.State == OK && plain(h.Reason) == "ready" {
		return progressing(h.Reason, 0)
	}
	return h
}

// Describe describes how this package judges objects of a kind, beyond the rules for all kinds.
func Describe(kind Kind) string {
	switch r := cmp.Or(kinds[kind], &noRule); {
	case r.says != "":
		return "a rule for this kind: " + r.says
	case r.judge != nil:
		return "a rule for this kind of Kubernetes"
	}
	return "no rule for this kind; the first of the conditions " + strings.Join(usualConditions, ", ") +
		" that there is, else a word in status.health, status.phase, status.state or status.status, else status.ready, else unknown"
}

// counts returns how many parts of the object are ready, and how many its spec wants.
func (o *object) counts() (ready, wanted int64, counted bool) {
	if o.rule.count != nil {
		return o.rule.count(o)
	}
	ready, found := o.status.number("readyReplicas")
	if !found {
		ready, found = o.status.number("readyCount")
	}
	wanted, specified := o.number("spec", "replicas")
	if !specified {
		wanted, specified = o.status.number("replicas")
	}
	if expected, known := o.status.number("expectedMachines"); known {
		return o.status.numberOr(0, "currentHealthy"), expected, true
	}
	return ready, wanted, found && specified
}

// countAt returns a count of rule that reads fields. The status leaves out a count of 0. otherwise is
// the wanted number by default, 0 if that is not known.
func countAt(otherwise int64, ready string, wanted ...string) func(*object) (int64, int64, bool) {
	return func(o *object) (int64, int64, bool) {
		n, specified := o.number(wanted...)
		if !specified {
			n = otherwise
		}
		return o.status.numberOr(0, ready), n, specified || otherwise > 0
	}
}

var readyReplicas = countAt(1, "readyReplicas", "spec", "replicas")

// tally returns a count of rule for the objects of a list.
func tally(isReady func(jsontree.Value) bool, path ...string) func(*object) (int64, int64, bool) {
	return func(o *object) (ready, all int64, counted bool) {
		for element := range o.At(path...).Objects {
			all++
			if isReady(element) {
				ready++
			}
		}
		return ready, all, all > 0
	}
}

func containerReady(v jsontree.Value) bool { return v.At("ready").IsTrue() }

// endpointReady reports whether an endpoint is ready. By the API, an absent condition means ready.
func endpointReady(v jsontree.Value) bool { return !v.At("conditions", "ready").IsFalse() }

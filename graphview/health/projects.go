package health

import (
	"slices"
	"strings"
)

// project is how objects of one kind of another project are, in data: which
// conditions decide, and where a word says it.
type project struct {
	// bad are conditions that are True in trouble, busy those that are True on the
	// way, and paused those that are True while somebody stopped it.
	bad, busy, paused []string
	// start are the reasons with which a busy condition is no trouble; nil for any.
	start []string
	// good are conditions that are True when all is well; the first that is there
	// decides.
	good []string
	// final: the one that decides is trouble at once where it is False, whatever its
	// reason.
	final bool
	// path is where a word for the state is, and words what it means beyond phases.
	path  []string
	words map[string]State
	// ready and wanted are where counts are, if the kind has any.
	ready, wanted []string
}

func (p *project) of(f fields, conditions conditionsOf) Health {
	h := p.state(f, conditions)
	if p.ready != nil {
		if wanted, found := f.number(p.wanted...); found {
			return h.counted(f.numberOr(0, p.ready...), wanted)
		}
	}
	return h
}

func (p *project) state(f fields, conditions conditionsOf) Health {
	for _, list := range []struct {
		state State
		kinds []string
	}{{Degraded, p.bad}, {Suspended, p.paused}, {Progressing, p.busy}} {
		for _, kind := range list.kinds {
			if c, found := conditions.find(kind); found && c.isTrue() {
				if list.state == Progressing && p.start != nil && !slices.Contains(p.start, c.reason) {
					list.state = Degraded
				}
				return Health{State: list.state, Reason: word(orElse(c.reason, kind)), Since: c.since}
			}
		}
	}
	if p.path != nil {
		text := f.text(p.path...)
		if state, known := p.words[strings.ToLower(text)]; known {
			return Health{State: state, Reason: word(text)}
		}
		return phase(text, phases)
	}
	for _, kind := range p.good {
		c, found := conditions.find(kind)
		if found && p.final && c.status == "False" {
			return Health{State: Degraded, Reason: word(orElse(c.reason, "Not"+kind)), Since: c.since}
		}
		if found {
			break
		}
	}
	if h, found := conditions.readiness(p.good...); found {
		return h
	}
	return Health{State: Progressing, Reason: "NotObserved"}
}

var (
	statusPhase = []string{"status", "phase"}
	statusState = []string{"status", "state"}
	// runs are the words of what runs once: Running is no end.
	runs = map[string]State{"running": Progressing, "inconclusive": Unknown, "skipped": OK, "omitted": OK}

	// elastic is what all kinds of Elastic Cloud on Kubernetes have.
	elastic = &project{path: []string{"status", "health"}, words: map[string]State{"unknown": Unknown}}

	// strimzi is what all kinds of Strimzi have: NotReady while one is set up, and in
	// trouble.
	strimzi = &project{paused: []string{"ReconciliationPaused"}, busy: []string{"NotReady"}, start: []string{"Creating"}, good: []string{"Ready"}}
	velero  = &project{path: statusPhase, words: map[string]State{
		"waitingforpluginoperations": Progressing, "finalizing": Progressing, "enabled": OK, "unavailable": Degraded, "failedvalidation": Degraded,
		"waitingforpluginoperationspartiallyfailed": Degraded, "finalizingpartiallyfailed": Degraded,
	}}
)

// projects are kinds whose objects neither a condition of general use nor a phase
// describes rightly. The words are those that the project's own documentation
// or API types give.
var projects = map[Kind]interface {
	of(f fields, conditions conditionsOf) Health
}{
	{"argoproj.io", "Application"}:                    &project{path: []string{"status", "health", "status"}, words: map[string]State{"missing": Degraded}},
	{"argoproj.io", "Rollout"}:                        &project{path: statusPhase, ready: []string{"status", "readyReplicas"}, wanted: []string{"spec", "replicas"}},
	{"argoproj.io", "Workflow"}:                       &project{path: statusPhase, words: runs},
	{"argoproj.io", "AnalysisRun"}:                    &project{path: statusPhase, words: runs},
	{"argoproj.io", "Experiment"}:                     &project{path: statusPhase, words: runs},
	{"argoproj.io", "ApplicationSet"}:                 &project{bad: []string{"ErrorOccurred"}, good: []string{"ResourcesUpToDate"}},
	{"tekton.dev", "PipelineRun"}:                     &project{good: []string{"Succeeded"}, final: true},
	{"tekton.dev", "TaskRun"}:                         &project{good: []string{"Succeeded"}, final: true},
	{"cert-manager.io", "Certificate"}:                &project{busy: []string{"Issuing"}, good: []string{"Ready"}},
	{"acme.cert-manager.io", "Order"}:                 &project{path: statusState},
	{"acme.cert-manager.io", "Challenge"}:             &project{path: statusState},
	{"keda.sh", "ScaledObject"}:                       &project{bad: []string{"Fallback"}, paused: []string{"Paused"}, good: []string{"Ready"}},
	{"kafka.strimzi.io", "Kafka"}:                     strimzi,
	{"kafka.strimzi.io", "KafkaBridge"}:               strimzi,
	{"kafka.strimzi.io", "KafkaConnect"}:              strimzi,
	{"kafka.strimzi.io", "KafkaConnector"}:            strimzi,
	{"kafka.strimzi.io", "KafkaMirrorMaker2"}:         strimzi,
	{"kafka.strimzi.io", "KafkaNodePool"}:             strimzi,
	{"kafka.strimzi.io", "KafkaTopic"}:                strimzi,
	{"kafka.strimzi.io", "KafkaUser"}:                 strimzi,
	{"elasticsearch.k8s.elastic.co", "Elasticsearch"}: elastic,
	{"kibana.k8s.elastic.co", "Kibana"}:               elastic,
	{"apm.k8s.elastic.co", "ApmServer"}:               elastic,
	{"postgresql.cnpg.io", "Cluster"}: &project{
		good: []string{"Ready"}, ready: []string{"status", "readyInstances"}, wanted: []string{"spec", "instances"},
	},
	{"longhorn.io", "Volume"}: &project{
		path: []string{"status", "robustness"}, words: map[string]State{"unknown": Unknown},
	},
	{"ceph.rook.io", "CephCluster"}: &project{
		path: []string{"status", "ceph", "health"}, words: map[string]State{"health_ok": OK, "health_warn": Degraded, "health_err": Degraded},
	},
	{"kubevirt.io", "VirtualMachine"}: &project{
		path:  []string{"status", "printableStatus"},
		words: map[string]State{"migrating": Progressing, "errorunschedulable": Degraded, "errimagepull": Degraded, "imagepullbackoff": Degraded, "errorpvcnotfound": Degraded, "datavolumeerror": Degraded},
	},
	{"rabbitmq.com", "RabbitmqCluster"}:           &project{good: []string{"AllReplicasReady", "ReconcileSuccess"}},
	{"sparkoperator.k8s.io", "SparkApplication"}:  &project{path: []string{"status", "applicationState", "state"}, words: map[string]State{"running": Progressing, "submitted": Progressing, "submission_failed": Degraded, "failing": Degraded}},
	{"monitoring.coreos.com", "Prometheus"}:       &project{good: []string{"Available"}},
	{"monitoring.coreos.com", "Alertmanager"}:     &project{good: []string{"Available"}},
	{"gateway.networking.k8s.io", "Gateway"}:      &project{good: []string{"Programmed", "Accepted"}},
	{"gateway.networking.k8s.io", "GatewayClass"}: &project{good: []string{"Accepted"}},
	{"gateway.networking.k8s.io", "HTTPRoute"}:    routeRule{},
	{"gateway.networking.k8s.io", "GRPCRoute"}:    routeRule{},
	{"gateway.networking.k8s.io", "TLSRoute"}:     routeRule{},
	{"graphview.dev", "GraphView"}:                &project{good: []string{"Ready"}},
	{"graphview.dev", "ReferenceRule"}:            &project{good: []string{"Accepted"}},
	{"velero.io", "Backup"}:                       velero,
	{"velero.io", "Restore"}:                      velero,
	{"velero.io", "Schedule"}:                     velero,
	{"velero.io", "BackupStorageLocation"}:        velero,
	{"acid.zalan.do", "postgresql"}: &project{path: []string{"status", "PostgresClusterStatus"}, words: map[string]State{
		"createfailed": Degraded, "updatefailed": Degraded, "syncfailed": Degraded,
	}},
	{"bitnami.com", "SealedSecret"}: &project{good: []string{"Synced"}, final: true},
	{"helm.cattle.io", "HelmChart"}: &project{bad: []string{"Failed"}, good: []string{"JobCreated"}},
}

// routeRule is how routes of Gateway API are: each of their parents has
// conditions of its own.
type routeRule struct{}

func (routeRule) of(f fields, _ conditionsOf) Health {
	worst := Health{State: Unknown}
	f.each(func(parent fields) bool {
		all := conditionsAt(parent, "conditions")
		for _, kind := range []string{"Accepted", "ResolvedRefs"} {
			if c, found := all.find(kind); found {
				h := Health{State: OK, Since: c.since}
				if c.status == "False" {
					h = Health{State: Degraded, Reason: word(c.reason), Since: c.since}
				}
				if worst.State == Unknown || h.State.Severity() > worst.State.Severity() {
					worst = h
				}
			}
		}
		return true
	}, "status", "parents")
	return worst
}

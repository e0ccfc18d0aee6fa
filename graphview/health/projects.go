package health

// project is how objects of one kind of another project are judged, in data, where the
// general rules would be wrong.
type project struct {
	// bad are conditions that are True in trouble although their type names no failure,
	// and busy those that are True on the way although another one says that all is well.
	bad, busy []string
	// good are conditions that are True when all is well, instead of the usual ones.
	good []string
	// final: the deciding condition is trouble at once where it is False, whatever its
	// reason.
	final bool
	// path is where a word for the state is, instead of a condition, and words what it
	// means beyond phases.
	path  []string
	words map[string]State
	// last is where a word for the last operation is, which counts if it failed.
	last []string
}

func (p *project) of(o *object) Health {
	for _, kind := range p.bad {
		if c, found := o.conditions.find(kind); found && c.isTrue() {
			return degraded(orElse(c.reason, kind), c.since)
		}
	}
	for _, kind := range p.busy {
		if c, found := o.conditions.find(kind); found && c.isTrue() {
			return progressing(orElse(c.reason, kind), c.since)
		}
	}
	switch {
	case p.path != nil:
		h, _ := o.phase(o.text(p.path...), p.words)
		if p.last != nil && h.State != Degraded && phases[plain(o.text(p.last...))] == Degraded {
			return degraded("OperationFailed", 0)
		}
		return h
	case p.good == nil:
		return o.conventional()
	}
	h, found := o.readiness(p.good...)
	switch {
	case !found:
		return progressing("NotObserved", 0)
	case p.final && h.State == Progressing:
		return degraded(h.Reason, h.Since)
	}
	return h
}

var (
	statusPhase = []string{"status", "phase"}
	statusState = []string{"status", "state"}

	// acme: ready means that the server may now be asked for the certificate.
	acme = &project{path: statusState, words: map[string]State{"ready": Progressing}}
	// velero: Running is not the end of a Backup, and Available and Enabled are.
	velero = &project{path: statusPhase, words: map[string]State{
		"waitingforpluginoperations": Progressing, "finalizing": Progressing, "enabled": OK, "failedvalidation": Degraded,
		"waitingforpluginoperationspartiallyfailed": Degraded, "finalizingpartiallyfailed": Degraded,
	}}
)

// projects are the kinds for which the general rules are wrong, each with the reason.
// The words are those of the project's own documentation or API types.
var projects = map[Kind]*project{
	// Conditions are only about errors; health is a word one level deeper.
	{"argoproj.io", "Application"}: {
		path: []string{"status", "health", "status"}, words: map[string]State{"missing": Degraded}, last: []string{"status", "operationState", "phase"},
	},
	// Available is False in the middle of each blue-green switch.
	{"argoproj.io", "Rollout"}: {path: statusPhase},
	// ResourcesUpToDate is its only condition when all is well.
	{"argoproj.io", "ApplicationSet"}: {good: []string{"ResourcesUpToDate"}},
	// A certificate stays Ready while its renewal does not get on.
	{"cert-manager.io", "Certificate"}:     {busy: []string{"Issuing"}},
	{"acme.cert-manager.io", "Order"}:      acme,
	{"acme.cert-manager.io", "Challenge"}:  acme,
	{"keda.sh", "ScaledObject"}:            {bad: []string{"Fallback"}},
	{"longhorn.io", "Volume"}:              {path: []string{"status", "robustness"}},                                                                                             // state is about attachment
	{"ceph.rook.io", "CephCluster"}:        {path: []string{"status", "ceph", "health"}, words: map[string]State{"healthok": OK, "healthwarn": Degraded, "healtherr": Degraded}}, // Ready is about Rook
	{"rabbitmq.com", "RabbitmqCluster"}:    {good: []string{"AllReplicasReady", "ReconcileSuccess"}},
	{"bitnami.com", "SealedSecret"}:        {good: []string{"Synced"}, final: true}, // False has no reason
	{"helm.cattle.io", "HelmChart"}:        {good: []string{"JobCreated"}},
	{"velero.io", "Backup"}:                velero,
	{"velero.io", "Restore"}:               velero,
	{"velero.io", "Schedule"}:              velero,
	{"velero.io", "BackupStorageLocation"}: velero,
	// Ready is False of a machine that is stopped.
	{"kubevirt.io", "VirtualMachine"}: {path: []string{"status", "printableStatus"}, words: map[string]State{
		"migrating": Progressing, "errorunschedulable": Degraded, "errimagepull": Degraded, "imagepullbackoff": Degraded, "errorpvcnotfound": Degraded, "datavolumeerror": Degraded,
	}},
	// Their words are in fields of their own.
	{"sparkoperator.k8s.io", "SparkApplication"}: {path: []string{"status", "applicationState", "state"}, words: map[string]State{
		"running": Progressing, "submissionfailed": Degraded,
	}},
	{"acid.zalan.do", "postgresql"}: {path: []string{"status", "PostgresClusterStatus"}, words: map[string]State{
		"createfailed": Degraded, "updatefailed": Degraded, "syncfailed": Degraded,
	}},
}

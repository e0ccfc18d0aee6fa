package health

// project is how objects of one kind of another project are judged, in data, where the
// general rules would be wrong.
type project struct {
	// bad are conditions that are True in trouble although their type names no failure.
	// busy are conditions that are True on the way although all is well by another one.
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
			return degraded(orElse(c.reason, kind), c.since())
		}
	}
	for _, kind := range p.busy {
		if c, found := o.conditions.find(kind); found && c.isTrue() {
			return progressing(orElse(c.reason, kind), c.since())
		}
	}
	if p.path != nil {
		h, _ := o.phase(o.text(p.path...), p.words)
		if p.last != nil && h.State != Degraded {
			if last, _ := o.phase(o.text(p.last...), nil); last.State == Degraded {
				return degraded("OperationFailed", 0)
			}
		}
		return h
	}
	h, found := o.conventional(), true
	if p.good != nil {
		h, found = o.readiness(p.good...)
	}
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

	// acme: ready means that the server may now be asked for the certificate.
	acme = &project{path: []string{"status", "state"}, words: map[string]State{"ready": Progressing}}
)

// projects are the kinds for which the general rules are wrong, each with the reason.
// The words are those of the project's own documentation or API types.
var projects = map[Kind]*project{
	// An API that does not answer breaks discovery at once.
	{"apiregistration.k8s.io", "APIService"}: {good: []string{"Available"}, final: true},
	// A definition without conditions is not served yet.
	{"apiextensions.k8s.io", "CustomResourceDefinition"}: {good: []string{"Established"}},
	// Conditions are only about errors; health is a word one level deeper.
	{"argoproj.io", "Application"}: {path: []string{"status", "health", "status"}, last: []string{"status", "operationState", "phase"}},
	// Available is False in the middle of each blue-green switch.
	{"argoproj.io", "Rollout"}: {path: statusPhase},
	// A certificate stays Ready while its renewal does not get on.
	{"cert-manager.io", "Certificate"}:    {busy: []string{"Issuing"}},
	{"acme.cert-manager.io", "Order"}:     acme,
	{"acme.cert-manager.io", "Challenge"}: acme,
	{"keda.sh", "ScaledObject"}:           {bad: []string{"Fallback"}},
	{"longhorn.io", "Volume"}:             {path: []string{"status", "robustness"}},     // state is about attachment
	{"ceph.rook.io", "CephCluster"}:       {path: []string{"status", "ceph", "health"}}, // Ready is about Rook
	{"bitnami.com", "SealedSecret"}:       {good: []string{"Synced"}, final: true},      // False has no reason
	{"helm.cattle.io", "HelmChart"}:       {good: []string{"JobCreated"}},
	// Ready is False of a machine that is stopped.
	{"kubevirt.io", "VirtualMachine"}: {path: []string{"status", "printableStatus"}},
	// It runs once although its name does not say so.
	{"sparkoperator.k8s.io", "SparkApplication"}: {path: []string{"status", "applicationState", "state"}, words: map[string]State{"running": Progressing}},
}

package health

import "cmp"

// project is how objects of one kind of another project are judged, in data, where the general rules
// would be wrong.
type project struct {
	// busy are conditions that are True on the way although all is well by another one.
	busy []string
	// good is the condition that is True when all is well, without which nothing is known yet.
	good string
	// path is where a word for the state is, instead of a condition, and words what it means beyond
	// phases. last is where a word for the last operation is, which counts if it failed.
	path, last []string
	words      map[string]State
}

func (p *project) of(o *object) Health {
	for _, kind := range p.busy {
		if c, _ := o.conditions.find(kind); c.isTrue() {
			return progressing(cmp.Or(c.reason, kind), c.since())
		}
	}
	switch {
	case p.path != nil:
		h, _ := o.phase(o.text(p.path...), p.words)
		if last, _ := o.phase(o.text(p.last...), nil); p.last != nil && last.State == Degraded && h.State != Degraded {
			return degraded("OperationFailed", 0)
		}
		return h
	case p.good == "":
		return o.conventional()
	}
	if h, found := o.readiness(p.good); found {
		return h
	}
	return progressing("NotObserved", 0)
}

var (
	statusPhase = []string{"status", "phase"}

	// acme: ready means that the server may now be asked for the certificate.
	acme = &project{path: []string{"status", "state"}, words: map[string]State{"ready": Progressing}}
)

// projects are the kinds for which the general rules are wrong, each with the reason.
// The words are those of the project's own documentation or API types.
var projects = map[Kind]*project{
	// Without conditions they are not served yet.
	{"apiregistration.k8s.io", "APIService"}:             {good: "Available"},
	{"apiextensions.k8s.io", "CustomResourceDefinition"}: {good: "Established"},
	// Conditions are only about errors; health is a word one level deeper.
	{"argoproj.io", "Application"}: {path: []string{"status", "health", "status"}, last: []string{"status", "operationState", "phase"}},
	// Available is False in the middle of each blue-green switch.
	{"argoproj.io", "Rollout"}: {path: statusPhase},
	// A certificate stays Ready while its renewal does not get on.
	{"cert-manager.io", "Certificate"}:    {busy: []string{"Issuing"}},
	{"acme.cert-manager.io", "Order"}:     acme,
	{"acme.cert-manager.io", "Challenge"}: acme,
	{"longhorn.io", "Volume"}:             {path: []string{"status", "robustness"}},     // state is about attachment
	{"ceph.rook.io", "CephCluster"}:       {path: []string{"status", "ceph", "health"}}, // Ready is about Rook
	// Ready is False of a machine that is stopped.
	{"kubevirt.io", "VirtualMachine"}: {path: []string{"status", "printableStatus"}},
}

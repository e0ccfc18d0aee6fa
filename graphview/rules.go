package graphview

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/refs"
	"graphview.dev/graphview/spec"
)

// rules are how references are found: the built-in table, and what users
// declare. The goroutines of watches take the current ones as they are, once
// per object; whoever changes them has the objects concerned read again.
type rules struct {
	current atomic.Pointer[ruleset]
	kick    chan struct{} // there is something stale

	mu       sync.Mutex
	declared map[string]*rule
	revision uint64
	// served is what references are inferred from.
	served *refs.Served
	// read is what the schemas of kinds tell.
	read  map[graph.Kind]*refs.Reading
	stale stale
}

// stale is whose objects have to be read again: kinds, with whether views have to be
// told anew what could not be evaluated, and what is inferred in domains of groups.
type stale struct {
	kinds   map[graph.Kind]bool
	domains []string
}

// has tells whether objects of a kind have to be read again, and whether views have to
// be told anew.
func (s *stale) has(of graph.Kind, x *refs.Extractor) (again, evaluate bool) {
	evaluate, again = s.kinds[of]
	for _, domain := range s.domains {
		again = again || x.Infers(of, domain)
	}
	return again, evaluate
}

// ruleset is all rules at one moment. It is immutable.
type ruleset struct {
	extractor *refs.Extractor
	kinds     map[graph.Kind]declared
}

func newRules() *rules {
	r := &rules{
		kick:     make(chan struct{}, 1),
		declared: make(map[string]*rule),
		stale:    stale{kinds: make(map[graph.Kind]bool)},
	}
	r.current.Store(&ruleset{extractor: refs.Builtin()})
	return r
}

func (r *rules) named(name string) *rule {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.declared[name]
}

// declare replaces the rule of that name; nil removes it.
func (r *rules) declare(name string, p *rule) {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.declared[name]
	if old == nil && p == nil {
		return
	}
	next := maps.Clone(r.declared)
	delete(next, name)
	if p != nil {
		next[name] = p
	}
	var touched []graph.Kind
	for _, of := range [...]*rule{old, p} {
		if of != nil {
			touched = append(touched, of.Rule.From)
		}
	}
	r.putLocked(next, touched)
}

// putLocked puts programs in force. The objects of the kinds touched are to be read
// again.
func (r *rules) putLocked(programs map[string]*rule, touched []graph.Kind) {
	before := r.current.Load()
	now := newRuleset(programs, before, touched, r.revision+1)
	r.declared = programs
	r.revision++
	now.extractor = now.extractor.Serving(r.served).Reading(r.read)
	r.current.Store(now)
	for _, kind := range touched {
		judge := before.kinds[kind].evaluates() || now.kinds[kind].evaluates()
		r.stale.kinds[kind] = r.stale.kinds[kind] || judge
	}
	r.wake()
}

// serve has references inferred from what the cluster serves.
func (r *rules) serve(served *refs.Served) {
	r.mu.Lock()
	defer r.mu.Unlock()
	changed := served.Changed(r.served)
	if len(changed) == 0 {
		return
	}
	r.served = served
	now := *r.current.Load()
	now.extractor = now.extractor.Serving(served)
	r.current.Store(&now)
	r.stale.domains = append(r.stale.domains, changed...)
	r.wake()
}

// servedNow is what the cluster serves, as far as it is known.
func (r *rules) servedNow() *refs.Served {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.served
}

// tell has references found by what the schemas of kinds tell. The map is not to be
// modified after that.
func (r *rules) tell(read map[graph.Kind]*refs.Reading) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var changed []graph.Kind
	for kind := range read {
		if read[kind].Sum() != r.read[kind].Sum() {
			changed = append(changed, kind)
		}
	}
	for kind := range r.read {
		if read[kind] == nil {
			changed = append(changed, kind)
		}
	}
	if len(changed) == 0 {
		return
	}
	r.read = read
	now := *r.current.Load()
	now.extractor = now.extractor.Reading(read)
	r.current.Store(&now)
	for _, kind := range changed {
		again := r.stale.kinds[kind] // they are not evaluated again for this
		r.stale.kinds[kind] = again
	}
	r.wake()
}

// wake has what is stale read again.
func (r *rules) wake() {
	select {
	case r.kick <- struct{}{}:
	default:
	}
}

// newRuleset puts rules together, in the order of their names. The kinds touched
// get a new revision.
func newRuleset(programs map[string]*rule, before *ruleset, touched []graph.Kind, revision uint64) *ruleset {
	references, kinds := make(map[graph.Kind]refs.Declared), make(map[graph.Kind]declared)
	for _, name := range slices.Sorted(maps.Keys(programs)) {
		p := programs[name]
		kind := p.Rule.From
		if len(p.Rule.References) > 0 {
			of := references[kind]
			of.Rules = append(of.Rules, p.Paths...)
			of.Replace = of.Replace || p.Rule.ReplaceConventions
			references[kind] = of
		}
		d := kinds[kind]
		d.revision = before.kinds[kind].revision
		if slices.Contains(touched, kind) {
			d.revision = revision
		}
		for _, e := range p.Expressions {
			d.expressions = append(d.expressions, namedExpression{expressionOrigin{name, e.Field, p.work, p.budget}, e.Program, e.Arc, graph.WithWord("referencerule/"+name, e.Word)})
		}
		if p.Health != nil {
			d.health = append(d.health, namedHealth{expressionOrigin{name, spec.HealthField, p.work, p.budget}, p.Health})
		}
		kinds[kind] = d
	}
	return &ruleset{extractor: refs.Extended(references), kinds: kinds}
}

// takeStale returns what is stale, and forgets it.
func (r *rules) takeStale() stale {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.stale
	r.stale = stale{kinds: make(map[graph.Kind]bool)}
	return taken
}

// retryExceeded has the rules tried again whose expressions cost too much.
func (r *rules) retryExceeded() {
	r.mu.Lock()
	defer r.mu.Unlock()
	var touched []graph.Kind
	for _, p := range r.declared {
		if p.budget.exceeded.Load() {
			p.budget = p.budget.renewed()
			touched = append(touched, p.Rule.From)
		}
	}
	if len(touched) == 0 {
		return
	}
	// Another revision: what is found now is not what was found before.
	r.putLocked(r.declared, touched)
}

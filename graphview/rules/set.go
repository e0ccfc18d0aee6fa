package rules

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/quota"
	"graphview.dev/graphview/refs"
	"graphview.dev/graphview/spec"
)

// Owner is the owner of all ReferenceRules, which belong to the cluster.
var Owner = budget.NamespaceOwner("")

// Rule is a ReferenceRule in force.
type Rule struct {
	*spec.RuleProgram

	// Budget limits the cost of the expressions.
	Budget *quota.Budget
}

// Set holds all rules.
type Set struct {
	current atomic.Pointer[Snapshot]
	changed func()

	mu       sync.Mutex // of writers
	declared map[string]*Rule
}

// Snapshot is all rules at one moment.
type Snapshot struct {
	// Extractor finds references by the table, rules with paths, schemas and served kinds.
	Extractor *refs.Extractor
	// Revision is greater in each later Snapshot.
	Revision uint64

	kinds    map[graph.Kind]Expressions
	served   *refs.Served
	readings map[graph.Kind]*refs.Reading
	// ruled, schemas and domains have the revisions of the last changes: to the rules and the schema of
	// a kind, and to the served kinds of a domain. Entries are not removed: a kind that loses its rules
	// or its schema must not get a former fingerprint again.
	ruled   map[graph.Kind]uint64
	schemas map[graph.Kind]uint64
	domains map[string]uint64
}

// Fingerprint is comparable. Objects that were read under an equal fingerprint need not be reread.
type Fingerprint struct{ rules, schema, served uint64 }

// NewSet returns a Set with the rules of the table. The Set calls changed after each change, while it
// holds its lock: changed must neither block nor call the Set.
func NewSet(changed func()) *Set {
	s := &Set{changed: changed, declared: make(map[string]*Rule)}
	s.current.Store(&Snapshot{
		Extractor: refs.Builtin(),
		ruled:     make(map[graph.Kind]uint64), schemas: make(map[graph.Kind]uint64), domains: make(map[string]uint64),
	})
	return s
}

// Current returns the rules in force.
func (s *Set) Current() *Snapshot { return s.current.Load() }

// Of returns the expressions of a kind.
func (s *Snapshot) Of(kind graph.Kind) Expressions {
	k, ok := s.kinds[kind]
	if ok {
		k.Revision = s.ruled[kind]
	}
	return k
}

// Served returns the kinds that the cluster serves, nil until they are known.
func (s *Snapshot) Served() *refs.Served { return s.served }

// Fingerprint identifies the rules of a kind.
func (s *Snapshot) Fingerprint(kind graph.Kind) Fingerprint {
	f := Fingerprint{rules: s.ruled[kind], schema: s.schemas[kind]}
	if s.Extractor.Infers(kind) {
		f.served = s.domains[refs.DomainOf(kind.Group)]
	} else if s.served != nil {
		f.served = 1 // the owner may be in another group if its kind is not served
	}
	return f
}

// Named returns the rule with a name, nil if there is none.
func (s *Set) Named(name string) *Rule {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.declared[name]
}

// Declare replaces the rule with a name; nil removes it.
func (s *Set) Declare(name string, rule *Rule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.declared[name]
	if old == nil && rule == nil {
		return
	}
	next := maps.Clone(s.declared)
	delete(next, name)
	if rule != nil {
		next[name] = rule
	}
	var touched []graph.Kind
	for _, of := range [...]*Rule{old, rule} {
		if of != nil {
			touched = append(touched, of.From())
		}
	}
	s.declareLocked(next, touched)
}

// RetryExceeded renews the exceeded budgets, so that their rules are evaluated again.
func (s *Set) RetryExceeded() {
	s.mu.Lock()
	defer s.mu.Unlock()
	var touched []graph.Kind
	for _, rule := range s.declared {
		if rule.Budget.Exceeded() {
			rule.Budget = rule.Budget.Renewed()
			touched = append(touched, rule.From())
		}
	}
	if len(touched) > 0 {
		s.declareLocked(s.declared, touched)
	}
}

// declareLocked replaces the declared rules. Those of the touched kinds differ.
func (s *Set) declareLocked(declared map[string]*Rule, touched []graph.Kind) {
	s.declared = declared
	s.changeLocked(func(next *Snapshot, number uint64) {
		next.setKinds(declared)
		next.ruled = maps.Clone(next.ruled)
		for _, kind := range touched {
			next.ruled[kind] = number
		}
	})
}

// setKinds compiles rules, in the order of their names.
func (s *Snapshot) setKinds(declared map[string]*Rule) {
	references, kinds := make(map[graph.Kind]refs.Declared), make(map[graph.Kind]Expressions)
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		rule := declared[name]
		kind := rule.From()
		if len(rule.Rule.References) > 0 {
			of := references[kind]
			of.Rules = append(of.Rules, rule.Paths...)
			of.Replace = of.Replace || rule.Replaces()
			references[kind] = of
		}
		k := kinds[kind]
		for _, e := range rule.Expressions {
			k.references = append(k.references, referenceExpression{origin{name, e.Field, rule.Budget}, e.Program, e.Arc, graph.WithWord(fieldPrefix+name, e.Word)})
		}
		if rule.Health != nil {
			k.health = append(k.health, healthExpression{origin{name, spec.HealthField, rule.Budget}, rule.Health})
		}
		kinds[kind] = k
	}
	s.kinds, s.Extractor = kinds, refs.Extended(references)
}

// Serve sets the kinds that the cluster serves. Conventions infer references to them.
func (s *Set) Serve(served *refs.Served) {
	s.mu.Lock()
	defer s.mu.Unlock()
	domains := served.Changed(s.Current().served)
	if len(domains) == 0 {
		return
	}
	s.changeLocked(func(next *Snapshot, number uint64) {
		next.served, next.domains = served, maps.Clone(next.domains)
		for _, domain := range domains {
			next.domains[domain] = number
		}
	})
}

// setReadings replaces the readings of the schemas of kinds. The map must not be modified
// afterwards.
func (s *Set) setReadings(readings map[graph.Kind]*refs.Reading) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.Current().readings
	var touched []graph.Kind
	for _, of := range [...]map[graph.Kind]*refs.Reading{before, readings} {
		for kind := range of {
			if readings[kind].Sum() != before[kind].Sum() {
				touched = append(touched, kind)
			}
		}
	}
	if len(touched) == 0 {
		return
	}
	s.changeLocked(func(next *Snapshot, number uint64) {
		next.readings, next.schemas = readings, maps.Clone(next.schemas)
		for _, kind := range touched {
			next.schemas[kind] = number
		}
	})
}

// changeLocked changes a copy of the current snapshot, under a new revision, and makes it current.
func (s *Set) changeLocked(change func(next *Snapshot, number uint64)) {
	next := *s.Current()
	next.Revision++
	change(&next, next.Revision)
	next.Extractor = next.Extractor.Serving(next.served).Reading(next.readings)
	s.current.Store(&next)
	s.changed()
}

// paths returns the paths that the rules of a kind name.
func (s *Set) paths(kind graph.Kind) map[string]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	paths := make(map[string]bool)
	for _, of := range s.declared {
		if of.From() != kind {
			continue
		}
		for i := range of.Rule.References {
			paths[of.Rule.References[i].Path] = true
		}
	}
	return paths
}

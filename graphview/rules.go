package graphview

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/panics"
	"graphview.dev/graphview/quarantine"
	"graphview.dev/graphview/refs"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
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
	// stale are the kinds whose objects have to be read again, with whether
	// views have to be told anew what could not be evaluated.
	stale map[graph.Kind]bool
}

// ruleset is all rules at one moment. It is immutable.
type ruleset struct {
	extractor *refs.Extractor
	kinds     map[graph.Kind]declared
}

// declared is what users declared of one kind, zero if nothing.
type declared struct {
	revision    uint64 // in which that changed last
	expressions []namedExpression
}

// namedExpression is an expression and the name of its rule.
type namedExpression struct {
	spec.RuleExpression

	rule   string
	work   quarantine.Work
	budget *costBudget
}

func newRules() *rules {
	r := &rules{
		kick:     make(chan struct{}, 1),
		declared: make(map[string]*rule),
		stale:    make(map[graph.Kind]bool),
	}
	r.current.Store(&ruleset{extractor: refs.Builtin()})
	return r
}

func (r *rules) named(name string) *rule {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.declared[name]
}

// declare puts a program in the place of what has the name, nil for nothing.
func (r *rules) declare(name string, p *rule) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.declared[name]
	if old == nil && p == nil {
		return nil
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
	before := r.current.Load()
	now, err := newRuleset(next, before, touched, r.revision+1)
	if err != nil {
		return fmt.Errorf("rule %s: %w", name, err)
	}
	r.declared = next
	r.revision++
	r.current.Store(now)
	for _, kind := range touched {
		judge := len(before.kinds[kind].expressions)+len(now.kinds[kind].expressions) > 0
		r.stale[kind] = r.stale[kind] || judge
	}
	select {
	case r.kick <- struct{}{}:
	default:
	}
	return nil
}

// newRuleset puts rules together, in the order of their names. The kinds touched
// get a new revision.
func newRuleset(programs map[string]*rule, before *ruleset, touched []graph.Kind, revision uint64) (*ruleset, error) {
	paths, kinds := make(map[graph.Kind][]refs.Rule), make(map[graph.Kind]declared)
	for _, name := range slices.Sorted(maps.Keys(programs)) {
		p := programs[name]
		kind := p.Rule.From
		paths[kind] = append(paths[kind], p.Paths...)
		d := kinds[kind]
		d.revision = before.kinds[kind].revision
		if slices.Contains(touched, kind) {
			d.revision = revision
		}
		for _, e := range p.Expressions {
			d.expressions = append(d.expressions, namedExpression{e, name, p.work, p.budget})
		}
		kinds[kind] = d
	}
	extractor, err := refs.Extended(paths)
	if err != nil {
		return nil, err
	}
	return &ruleset{extractor: extractor, kinds: kinds}, nil
}

// takeStale returns what is stale, and forgets it.
func (r *rules) takeStale() map[graph.Kind]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	stale := r.stale
	r.stale = make(map[graph.Kind]bool)
	return stale
}

// evaluate returns what the expressions name on an object, what they cost, and what
// is wrong with them on it, in words that hold no value.
func (d declared) evaluate(ctx context.Context, journal *quarantine.Journal, of resources.Resource, o *watch.Decoded) (references []graph.Reference, cost uint64, warning error) {
	if len(d.expressions) == 0 {
		return nil, 0, nil
	}
	var treeErr error
	in := &expr.Input{
		Group: of.Group, Version: of.Version, Resource: of.Resource, Kind: of.Kind, Namespace: o.Namespace(), Name: o.Name(),
		Object: func() map[string]any {
			tree, err := o.Tree()
			treeErr = err
			return tree
		},
	}
	defer func() { cost = in.Cost }()
	for i := range d.expressions {
		e := &d.expressions[i]
		if in.Cost > maxCost {
			return references, 0, fmt.Errorf("reference rule %s: %s and those after it: the rules' expressions together cost too much on this object", e.rule, e.Field)
		}
		bucket := e.budget.bucket.Load()
		if bucket.spent.Load() {
			warning = cmp.Or(warning, fmt.Errorf("reference rule %s: its expressions cost more than %d units, or all the time more than %d a second; simplify them, or remove the rule", e.rule, bucket.tokens.Burst(), bucket.tokens.Burst()/budgetSeconds))
			continue
		}
		turn, err := journal.Begin(ctx, e.work)
		if err != nil {
			return references, 0, fmt.Errorf("reference rule %s: %w", e.rule, err)
		}
		before := in.Cost
		found, err := find(ctx, e.Program, in)
		turn.End()
		bucket.charge(in.Cost - before)
		if err = errors.Join(treeErr, err); err != nil && warning == nil {
			warning = fmt.Errorf("reference rule %s: %s: %w", e.rule, e.Field, err)
		}
		for _, f := range found {
			if f.Namespace == "" {
				f.Namespace = o.Namespace()
			}
			references = append(references, graph.Reference{
				Type: e.Arc, To: graph.Kind{Group: f.Group, Kind: f.Kind}, Namespace: f.Namespace, Name: f.Name, Field: "referencerule/" + e.rule,
			})
		}
	}
	return references, 0, warning
}

// retrySpent has the rules tried again whose expressions cost too much.
func (r *rules) retrySpent(budget int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	again := false
	for _, p := range r.declared {
		if p.budget.spent() {
			p.budget.reset(budget)
			r.stale[p.Rule.From], again = true, true
		}
	}
	if again {
		select {
		case r.kick <- struct{}{}:
		default:
		}
	}
}

// find evaluates an expression. A panic of it costs the object these references
// alone.
func find(ctx context.Context, program *expr.References, in *expr.Input) (found []expr.Found, err error) {
	defer panics.Recover(&err)
	return program.Find(ctx, in)
}

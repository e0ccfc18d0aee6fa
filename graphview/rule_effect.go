package graphview

import (
	"context"
	"fmt"
	"slices"

	"graphview.dev/graphview/advice"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/panics"
	"graphview.dev/graphview/refs"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/schemas"
)

// RuleEffect is what comes of a rule that is in force.
type RuleEffect struct {
	// Known: it is known what the cluster serves.
	Known bool
	// Unserved are about the kinds that the rule names and that nothing serves.
	Unserved []advice.Finding
	// Replaced are the fields that conventions would read as references if no rule
	// replaced them, as far as the schema of the kind says what fields there are.
	Replaced []string
	// Unread is why they are not known.
	Unread error
}

// RuleEffect finds out what comes of the rule of that name.
func (e *Engine) RuleEffect(ctx context.Context, name string) RuleEffect {
	r := e.rules.named(name)
	catalog, _ := e.discovery.Current()
	if r == nil || catalog == nil {
		return RuleEffect{}
	}
	named := []advice.Kind{{Path: "spec.from", Group: r.Rule.From.Group, Kind: r.Rule.From.Kind}}
	for i := range r.Rule.References {
		if of := &r.Rule.References[i]; of.Path != "" {
			named = append(named, advice.Kind{Path: fmt.Sprintf("spec.references[%d].to", i), Group: of.To.Group, Kind: of.To.Kind})
		}
	}
	effect := RuleEffect{Unserved: advice.OfKinds(named, served(catalog))}
	if effect.Known = catalog.Complete() || len(effect.Unserved) == 0; !effect.Known {
		return RuleEffect{} // what seems not to be served may be what could not be asked for
	}
	if r.Rule.ReplaceConventions && len(r.Rule.References) > 0 {
		effect.Replaced, effect.Unread = e.replaced(ctx, r.Rule.From, catalog)
	}
	return effect
}

// ServedChanged is closed when the cluster comes to serve other kinds than now.
func (e *Engine) ServedChanged() <-chan struct{} {
	_, changed := e.discovery.Current()
	return changed
}

// replaced are the fields of a kind that conventions would read as references, but for
// those that rules name.
func (e *Engine) replaced(ctx context.Context, kind graph.Kind, catalog *resources.Catalog) (fields []string, err error) {
	defer panics.Recover(&err) // schemas are what somebody wrote
	path, version := "", ""
	for _, r := range catalog.All() {
		if kindOf(r) == kind && (path == "" || resources.CompareVersions(r.Version, version) > 0) {
			path, version = schemas.Path(r.Group, r.Version), r.Version
		}
	}
	if !refs.IsOpen(kind) || refs.Builtin().Lists(kind) || path == "" {
		return nil, nil // conventions say nothing anyway
	}
	schema, err := e.schemas.Kind(ctx, path, kind)
	if err != nil {
		return nil, err
	}
	all, err := e.rules.servedNow().Explain(kind, schema)
	if err != nil {
		return nil, err
	}
	declared := e.rules.paths(kind)
	for _, of := range all {
		if of.Source == refs.ByConvention && !declared[of.Path] && !declared[of.Path+".name"] {
			fields = append(fields, of.Path)
		}
	}
	return slices.Compact(fields), nil
}

// paths are those that the rules of a kind name.
func (r *rules) paths(kind graph.Kind) map[string]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	named := make(map[string]bool)
	for _, of := range r.declared {
		if of.Rule.From != kind {
			continue
		}
		for i := range of.Rule.References {
			named[of.Rule.References[i].Path] = true
		}
	}
	return named
}

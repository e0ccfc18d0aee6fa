package rules

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

// Effect describes a rule that is in force.
type Effect struct {
	// Known reports whether the served kinds are known.
	Known bool
	// Unserved has findings on the kinds that the rule names and the cluster does not serve.
	Unserved []advice.Finding
	// Replaced has the fields in the kind's schema that conventions would read as references if the rule
	// did not replace conventions.
	Replaced []string
	// Unread is the reason why Replaced is not known.
	Unread error
}

// Effect describes the rule with a name, given the served kinds.
func (s *Set) Effect(ctx context.Context, name string, catalog *resources.Catalog, client *schemas.Client) Effect {
	rule := s.Named(name)
	if rule == nil || catalog == nil {
		return Effect{}
	}
	named := []advice.NamedKind{{Path: "spec.from", Group: rule.Rule.From.Group, Kind: rule.Rule.From.Kind}}
	for i := range rule.Rule.References {
		if of := &rule.Rule.References[i]; of.Path != "" {
			named = append(named, advice.NamedKind{Path: fmt.Sprintf("spec.references[%d].to", i), Group: of.To.Group, Kind: of.To.Kind})
		}
	}
	effect := Effect{Unserved: advice.OfKinds(named, catalog.All())}
	if effect.Known = catalog.Complete() || len(effect.Unserved) == 0; !effect.Known {
		return Effect{} // the group of a kind that seems not to be served may not have answered
	}
	if rule.Replaces() {
		effect.Replaced, effect.Unread = s.replaced(ctx, rule.From(), catalog, client)
	}
	return effect
}

// replaced returns the fields of a kind that conventions would read as references, without the
// fields that rules name.
func (s *Set) replaced(ctx context.Context, kind graph.Kind, catalog *resources.Catalog, client *schemas.Client) (fields []string, err error) {
	defer panics.Recover(&err) // schemas are untrusted
	path, version := "", ""
	for _, r := range catalog.All() {
		if r.Group == kind.Group && r.Kind == kind.Kind && (path == "" || resources.CompareVersions(r.Version, version) > 0) {
			path, version = schemas.Path(r.Group, r.Version), r.Version
		}
	}
	if !refs.IsOpen(kind) || refs.Builtin().Lists(kind) || path == "" {
		return nil, nil // conventions do not apply to the kind
	}
	of, err := client.Kind(ctx, path, kind)
	if err != nil {
		return nil, err
	}
	all, err := s.Current().Served().Explain(kind, of)
	if err != nil {
		return nil, err
	}
	declared := s.paths(kind)
	for _, e := range all {
		if e.Source == refs.ByConvention && !declared[e.Path] && !declared[e.Path+".name"] {
			fields = append(fields, e.Path)
		}
	}
	return slices.Compact(fields), nil
}

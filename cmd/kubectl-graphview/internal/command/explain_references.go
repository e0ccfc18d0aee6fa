package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"k8s.io/client-go/rest"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/refs"
	"graphview.dev/graphview/refs/schema"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/schemas"
)

// kindReferences has the fields of a kind that are read as references.
type kindReferences struct {
	all    []refs.Explained
	schema *schema.Schema
	// unread is the reason why the kind's schema is not known.
	unread error
}

// readReferences finds out which fields of a kind are read as references. It reads the
// kind's schema as the operator does.
func readReferences(ctx context.Context, config *rest.Config, kind graph.Kind) (kindReferences, error) {
	catalog, err := resources.Once(ctx, config)
	if err != nil {
		return kindReferences{}, err
	}
	kinds := map[graph.Kind]graph.Scope{}
	for _, r := range catalog.All() {
		of := graph.Kind{Group: r.Group, Kind: r.Kind}
		kinds[of] = graph.ScopeCluster
		if r.Namespaced {
			kinds[of] = graph.ScopeNamespaced
		}
	}
	path := ""
	selected, _ := resources.Select(catalog, func(r resources.Resource) (int, bool, bool, error) {
		return 0, true, graph.Kind{Group: r.Group, Kind: r.Kind} == kind, nil
	})
	for _, s := range selected { // it has one element, for the version that views watch
		path = schemas.Path(s.Resource.Group, s.Resource.Version)
	}
	source, err := schemas.New(config)
	if err != nil {
		return kindReferences{}, err
	}
	var found kindReferences
	found.schema, found.unread = source.Kind(ctx, path, kind)
	found.all, err = refs.NewServed(kinds).Explain(kind, found.schema)
	found.unread = errors.Join(found.unread, err)
	return found, nil
}

// explainReferences prints which fields of a kind are read as references, and why. Conventions
// do not apply to fields that a ReferenceRule names, nor to a kind whose conventions it
// replaces.
func (c *cli) explainReferences(ctx context.Context, config *rest.Config, kind graph.Kind, rules []*v1alpha1.ReferenceRule) error {
	if !refs.IsOpen(kind) {
		fmt.Fprintln(c.Out, "References: fields that the table lists (docs/references.md)")
		return nil
	}
	found, err := readReferences(ctx, config, kind)
	if err != nil {
		return err
	}
	if found.unread != nil {
		fmt.Fprintf(c.ErrOut, "The schema of %s is not known, and references are inferred from keys alone: %s\n", kind.Kind, errorText(bare(found.unread)))
	}
	replaced, named := false, map[string]bool{}
	for _, r := range rules {
		replaced = replaced || r.Spec.Conventions == v1alpha1.ConventionsReplace
		for _, of := range r.Spec.References {
			named[strings.TrimSuffix(of.Path, ".name")] = true
		}
	}
	all := slices.DeleteFunc(found.all, func(e refs.Explained) bool {
		return e.Source == refs.ByConvention && (replaced || named[strings.TrimSuffix(e.Path, ".name")])
	})
	if replaced {
		fmt.Fprintln(c.Out, "Conventions say nothing of this kind: a ReferenceRule replaces them")
	}
	if len(all) == 0 {
		fmt.Fprintln(c.Out, "References: none are known, beside those of owners and labels")
		return nil
	}
	fmt.Fprintln(c.Out, "References:")
	w := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	for _, e := range all {
		fmt.Fprintln(w, row("  "+e.Path, strings.TrimPrefix(e.To, "core/"), howRead(e)))
	}
	return w.Flush()
}

// howRead returns the source of a reference and its type, in words.
func howRead(e refs.Explained) string {
	how := []string{"by " + string(e.Source)}
	if e.Selector {
		how = append(how, "selector")
	}
	if e.Inferred {
		how = append(how, "only to what exists")
	}
	return strings.Join(how, ", ")
}

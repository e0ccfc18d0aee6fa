package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"k8s.io/client-go/rest"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/refs"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/schemas"
)

// explainReferences says which fields of a kind are read as references, and why. It
// reads the kind's schema as the operator does. If a ReferenceRule in force declares
// references of the kind, conventions say nothing of it.
func (c *cli) explainReferences(ctx context.Context, config *rest.Config, kind graph.Kind, ruled bool) error {
	if !refs.IsOpen(kind) {
		fmt.Fprintln(c.Out, "References: fields that the table lists (docs/references.md)")
		return nil
	}
	catalog, err := resources.Once(ctx, config)
	if err != nil {
		return err
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
	for _, s := range selected { // one, in the version that views watch
		path = schemas.Path(s.Resource.Group, s.Resource.Version)
	}
	schema, unread := readSchema(ctx, config, kind, path)
	all, err := refs.NewServed(kinds).Explain(kind, schema)
	if unread = errors.Join(unread, err); unread != nil {
		fmt.Fprintf(c.ErrOut, "The schema of %s is not known, and references are inferred from keys alone: %v\n", kind.Kind, bare(unread))
	}
	if ruled {
		fmt.Fprintln(c.Out, "Conventions say nothing of this kind: a ReferenceRule declares its references")
		all = slices.DeleteFunc(all, func(e refs.Explained) bool { return e.Source == refs.ByConvention })
	}
	if len(all) == 0 {
		fmt.Fprintln(c.Out, "References: none are known, beside those of owners and labels")
		return nil
	}
	fmt.Fprintln(c.Out, "References:")
	w := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	for _, e := range all {
		how := []string{"by " + string(e.Source)}
		if e.Selector {
			how = append(how, "selector")
		}
		if e.Inferred {
			how = append(how, "only to what exists")
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\n", e.Path, strings.TrimPrefix(e.To, "core/"), strings.Join(how, ", "))
	}
	return w.Flush()
}

// readSchema reads the schema of a kind from the OpenAPI document at a path, nil if there
// is none.
func readSchema(ctx context.Context, config *rest.Config, kind graph.Kind, path string) (found *refs.Schema, err error) {
	source, err := schemas.New(config)
	if err != nil {
		return nil, err
	}
	index, err := source.Index(ctx)
	if err != nil || index[path] == "" {
		return nil, err
	}
	var why error
	err = source.Read(ctx, index[path], func(of graph.Kind) bool { return of == kind }, func(_ graph.Kind, s *refs.Schema, err error) {
		if why = err; err == nil {
			found = s
		}
	})
	return found, errors.Join(err, why)
}

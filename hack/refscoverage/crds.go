package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"sigs.k8s.io/yaml"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/refs"
	kindschema "graphview.dev/graphview/refs/schema"
	"graphview.dev/graphview/schemas"
	"graphview.dev/test/must"
)

// definition has the fields of a CustomResourceDefinition that the program reads.
type definition struct {
	Kind string `json:"kind"`
	Spec struct {
		Group string `json:"group"`
		Scope string `json:"scope"`
		Names struct {
			Kind string `json:"kind"`
		} `json:"names"`
		Versions []struct {
			Served  bool `json:"served"`
			Storage bool `json:"storage"`
			Schema  struct {
				OpenAPIV3Schema json.RawMessage `json:"openAPIV3Schema"`
			} `json:"schema"`
		} `json:"versions"`
	} `json:"spec"`
}

// readDefinitions returns the schemas, in the stored version, and the scopes of the kinds that the
// CustomResourceDefinitions in the YAML files of a directory define.
func readDefinitions(directory string) (map[graph.Kind]*kindschema.Schema, map[graph.Kind]graph.Scope) {
	kinds, scopes := map[graph.Kind]*kindschema.Schema{}, map[graph.Kind]graph.Scope{}
	must.Do(filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".yaml" && filepath.Ext(path) != ".yml" {
			return err
		}
		for document := range bytes.SplitSeq(must.Get(os.ReadFile(path)), []byte("\n---")) {
			var d definition
			if err := yaml.Unmarshal(document, &d); err != nil || d.Kind != "CustomResourceDefinition" {
				continue // another document, or a template of a chart
			}
			kind := graph.Kind{Group: d.Spec.Group, Kind: d.Spec.Names.Kind}
			scopes[kind] = graph.ScopeNamespaced
			if d.Spec.Scope == "Cluster" {
				scopes[kind] = graph.ScopeCluster
			}
			for _, v := range d.Spec.Versions {
				if len(v.Schema.OpenAPIV3Schema) == 0 || kinds[kind] != nil && !v.Storage {
					continue
				}
				s, err := schemas.Decode(bytes.NewReader(v.Schema.OpenAPIV3Schema))
				if err != nil {
					return fmt.Errorf("%s: %s: %w", path, kindName(kind), err)
				}
				kinds[kind] = s
			}
		}
		return nil
	}))
	return kinds, scopes
}

// printDefinitions prints the references that the operator reads by default of the kinds that a directory's
// CustomResourceDefinitions define, as rows of the table.
func printDefinitions(out io.Writer, directory string) {
	kinds, scopes := readDefinitions(directory)
	if len(scopes) == 0 {
		must.Do(errors.New("no CustomResourceDefinition in a .yaml or .yml file of " + directory))
	}
	served := refs.NewServed(scopes)
	for _, kind := range slices.SortedFunc(maps.Keys(kinds), func(a, b graph.Kind) int { return strings.Compare(kindName(a), kindName(b)) }) {
		if err := printDefinition(out, served, kind, kinds[kind]); err != nil {
			must.Do(fmt.Errorf("%s: %w", kindName(kind), err))
		}
	}
}

func printDefinition(out io.Writer, served *refs.Served, kind graph.Kind, of *kindschema.Schema) error {
	all, err := served.Explain(kind, of)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "kind %s\n", kindName(kind))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, e := range all {
		words := []string{}
		if e.Type == graph.Transitive {
			words = append(words, "t")
		}
		if e.Selector {
			words = append(words, "selector")
		}
		if e.Inferred {
			words = append(words, "inferred")
		}
		comment := "# " + string(e.Source)
		if e.Source != refs.ByTable && e.Inferred {
			comment += ", unsure: remove the word inferred if it is always so"
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", e.Path, e.To, strings.Join(words, " "), comment)
	}
	fmt.Fprintln(w)
	return w.Flush()
}

package refs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/refs"
)

func lines(found []graph.Reference) []string {
	var out []string
	for _, r := range found {
		out = append(out, fmt.Sprintf("%s %s/%s %s/%s %s", r.Type, r.To.Group, r.To.Kind, r.Namespace, r.Name, r.Field))
	}
	slices.Sort(out)
	return out
}

func TestExtended(t *testing.T) {
	widget, pod := graph.Kind{Group: "example.com", Kind: "Widget"}, graph.Kind{Kind: "Pod"}
	gadget := refs.Target{Group: refs.Part{Value: "example.com"}, Kind: refs.Part{Value: "Gadget"}}
	byName := refs.Rule{Path: "spec.gadgets[].name", To: gadget, Namespace: []string{refs.FromRoot("spec.gadgets[].namespace")}}
	object := map[string]any{
		"metadata": map[string]any{"name": "it", "namespace": "shop"},
		"spec": map[string]any{
			"secretName": "guessed", "nodeName": "n",
			"gadgets": []any{
				map[string]any{"name": "own"}, map[string]any{"name": "other", "namespace": "far"},
				map[string]any{"name": "", "namespace": "far"}, map[string]any{"name": 7}, "text", nil,
				map[string]any{"name": "odd", "namespace": map[string]any{}}, map[string]any{"name": "glob", "namespace": "*"},
			},
		},
	}
	compiled := func(rule refs.Rule) []refs.Compiled {
		rule.From = widget
		c, err := refs.Compile(&rule)
		if err != nil {
			t.Fatal(err)
		}
		return []refs.Compiled{c}
	}
	own := []string{"r example.com/Gadget far/other spec.gadgets[].name", "r example.com/Gadget shop/own spec.gadgets[].name"}
	for name, tt := range map[string]struct {
		further map[graph.Kind]refs.Declared
		kind    graph.Kind
		want    []string
	}{
		"none: conventions":          {kind: widget, want: []string{"r /Node /n spec.nodeName", "r /Secret shop/guessed spec.secretName"}},
		"a rule, and no conventions": {further: map[graph.Kind]refs.Declared{widget: {Rules: compiled(byName), Replace: true}}, kind: widget, want: own},
		"a rule beside conventions": {
			further: map[graph.Kind]refs.Declared{widget: {Rules: compiled(byName)}}, kind: widget,
			want: slices.Concat([]string{"r /Node /n spec.nodeName", "r /Secret shop/guessed spec.secretName"}, own),
		},
		"a rule in the place of a convention": {
			further: map[graph.Kind]refs.Declared{widget: {Rules: compiled(refs.Rule{Path: "spec.secretName", To: gadget})}}, kind: widget,
			want: []string{"r /Node /n spec.nodeName", "r example.com/Gadget shop/guessed spec.secretName"},
		},
		"no rule, and no conventions": {
			further: map[graph.Kind]refs.Declared{widget: {Replace: true}}, kind: widget,
		},
		"no rule beside conventions": {
			further: map[graph.Kind]refs.Declared{widget: {}}, kind: widget, want: []string{"r /Node /n spec.nodeName", "r /Secret shop/guessed spec.secretName"},
		},
		"another kind's rule": {
			further: map[graph.Kind]refs.Declared{pod: {Rules: compiled(byName)}}, kind: widget,
			want: []string{"r /Node /n spec.nodeName", "r /Secret shop/guessed spec.secretName"},
		},
		"a rule beside the table's": {
			further: map[graph.Kind]refs.Declared{pod: {Rules: compiled(byName), Replace: true}}, kind: pod, want: append([]string{"r /Node /n spec.nodeName"}, own...),
		},
		"no rule beside the table's": {further: map[graph.Kind]refs.Declared{pod: {}}, kind: pod, want: []string{"r /Node /n spec.nodeName"}},
	} {
		t.Run(name, func(t *testing.T) {
			x := refs.Extended(tt.further)
			if diff := cmp.Diff(tt.want, lines(x.Extract(tt.kind, object))); diff != "" {
				t.Errorf("references (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	for name, tt := range map[string]struct {
		path, companion string
		want            string // part of the error
	}{
		"a path":               {path: "spec.gadgets[].name"},
		"an annotation":        {path: "metadata.annotations['example.com/owner']"},
		"a map":                {path: "spec.gadgets{}.name"},
		"names in a list":      {path: "spec.gadgets[]"},
		"empty":                {path: "", want: "path is empty"},
		"two dots":             {path: "spec..name", want: `path "spec..name": expected a key`},
		"an index":             {path: "spec.gadgets[0].name", want: `path "spec.gadgets[0].name": expected a dot before "[0].name"; expected keys joined by dots`},
		"JSONPath":             {path: "{.spec.name}", want: "expected a key"},
		"a list at first":      {path: "[].name", want: "does not start with a key"},
		"deep":                 {path: strings.Repeat("a.", 40) + "a", want: "more than 32 steps"},
		"the same element":     {path: "spec.gadgets[].name", companion: "spec.gadgets[].namespace"},
		"deeper, same element": {path: "spec.gadgets[].ref.name", companion: "spec.gadgets[].where.namespace"},
		"one for all":          {path: "spec.gadgets[].name", companion: "spec.namespace"},
		"another list":         {path: "spec.gadgets[].name", companion: "spec.spaces[].name", want: `path "spec.spaces[].name": enters a list or a map that path does not enter`},
		"a list of one's own":  {path: "spec.name", companion: "spec.gadgets[].namespace", want: "enters a list"},
		"no path":              {path: "spec.name", companion: "spec.", want: "expected a key"},
	} {
		t.Run(name, func(t *testing.T) {
			err := refs.CheckPath(tt.path)
			if tt.companion != "" {
				err = refs.CheckCompanion(tt.companion, tt.path)
			}
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

package expr

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCompileReferences(t *testing.T) {
	checkErrors(t, map[string]invalid{
		"the documented one": {text: "has(obj.spec.parent) ? [{'group': 'example.com', 'kind': 'Widget', 'name': obj.spec.parent}] : []"},
		"nothing":            {text: "[]"},
		"all text":           {text: "[{'group': '', 'kind': 'Node', 'name': name, 'namespace': namespace}]"},
		"from a list":        {text: "obj.spec.gadgets.map(g, {'group': 'example.com', 'kind': 'Gadget', 'name': g})"},
		"optional":           {text: "[{'group': '', 'kind': 'Node', ?'name': obj.?spec.node}]"},
		"two lists":          {text: "[{'group': '', 'kind': 'Node', 'name': name}] + obj.spec.others"},
		"whatever it holds":  {text: "obj.spec.references"},
		"labels":             {text: "labels.map(k, {'group': '', 'kind': 'ConfigMap', 'name': labels[k]})"},
		"empty":              {text: "", want: "…expression is empty; it must evaluate to a list of maps with group, kind, name and, optionally, namespace…"},
		"bool":               {text: "true", want: `…expression must evaluate to a list of maps with group, kind, name and, optionally, namespace, not bool: "true"…`},
		"one map":            {text: "{'name': name}", want: "…not map(string, string)…"},
		"names":              {text: "[name]", want: "…not list(string)…"},
		"what it cannot see": {text: "[1, 'a', obj.spec][2].references + [{'group': '', 'kind': 'Node', 'name': string(obj.spec.number)}]"},
		"a dynamic key":      {text: "[{obj.spec.key: obj.spec.value}]"},
		"a misspelt key":     {text: "has(obj.spec) ? [{'group': '', 'Kind': 'Node', 'name': name}] : []", want: `…line 1, column 32: an entry has the keys group, kind, name and, optionally, namespace, not 'Kind': "has(obj.spec) ?…`},
		"a missing key":      {text: "obj.spec.names.map(n, {'kind': 'Node', 'name': n})", want: `…line 1, column 23: an entry needs a group; that of Kubernetes' core is ''…`},
		"a number among":     {text: "[{'group': '', 'kind': 'Node', 'name': size(name)}]", want: `…line 1, column 44: the name of an entry must be a string, not int…`},
		"in a filtered loop": {text: "[] + obj.spec.names.map(n, n != '', {'group': '', 'kind': 'Node'})", want: "…line 1, column 37: an entry needs a name…"},
		"mixed entries":      {text: "[{'group': '', 'kind': 'Node', 'name': name}, 'x']", want: `…line 1, column 47: an entry must be a map, not string…`},
		"numbers":            {text: "[{'name': 1}]", want: "…not list(map(string, int))…"},
		"numbered":           {text: "[{1: name}]", want: "…not list(map(int, string))…"},
		"unknown variable":   {text: "[{'name': object.name}]", want: "…line 1, column 11: unknown name or function 'object'; the variables are obj, group…"},
		"syntax":             {text: "[{'name': name}", want: "…line 1, column 16: syntax error: the expression ends too early…"},
	}, func(text string) error {
		_, err := CompileReferences(t.Context(), nil, text)
		return err
	})
}

func TestReferences(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	object := map[string]any{
		"metadata": map[string]any{"name": "it", "labels": map[string]any{"app": "web"}},
		"spec": map[string]any{
			"parent": "up", "empty": "", "number": int64(3), "secret": secret, "odd": secret + "/..", "nothing": nil,
			"names":      []any{"a", "b", ""},
			"references": []any{map[string]any{"group": "example.com", "kind": "Gadget", "name": "g", "namespace": "far"}, secret, map[string]any{secret: secret}},
		},
	}
	widget := func(name string) Found { return Found{Group: "example.com", Kind: "Widget", Name: name} }
	for name, tc := range map[string]struct {
		text      string
		want      []Found
		wantError string
	}{
		"one":            {text: "has(obj.spec.parent) ? [{'group': 'example.com', 'kind': 'Widget', 'name': obj.spec.parent}] : []", want: []Found{widget("up")}},
		"none":           {text: "has(obj.spec.child) ? [{'group': 'example.com', 'kind': 'Widget', 'name': obj.spec.child}] : []"},
		"of a list":      {text: "obj.spec.names.map(n, {'group': 'example.com', 'kind': 'Widget', 'name': n})", want: []Found{widget("a"), widget("b")}},
		"an empty name":  {text: "[{'group': 'example.com', 'kind': 'Widget', 'name': obj.spec.empty}]"},
		"metadata":       {text: "[{'group': group, 'kind': 'Widget', 'name': name + '-' + labels.app, 'namespace': namespace}]", want: []Found{{Group: "example.com", Kind: "Widget", Namespace: "shop", Name: "it-web"}}},
		"no list":        {text: "obj.spec.parent", wantError: "expression must evaluate to a list of maps with group, kind, name and, optionally, namespace, and was string for this object"},
		"null":           {text: "obj.spec.nothing", wantError: "and was null_type for this object"},
		"no such key":    {text: "[{'group': '', 'kind': 'Node', 'name': obj.spec.node}]", wantError: "no such key: node"},
		"optional name":  {text: "[{'group': '', 'kind': 'Node', ?'name': obj.?spec.node}]", wantError: "entry 0 has no name"},
		"another key":    {text: "[{'group': '', 'kind': 'Node', 'name': name, obj.spec.secret: 'a'}]", wantError: "entry 0 has a key that is none of group, kind, name and namespace"},
		"a number":       {text: "[{'group': '', 'kind': 'Node', 'name': obj.spec.number}]", wantError: "entry 0 has a name that is no string"},
		"no kind's name": {text: "[{'group': '', 'kind': obj.spec.odd, 'name': name}]", wantError: "entry 0 has a kind that cannot be one"},
		"no name's name": {text: "[{'group': '', 'kind': 'Node', 'name': obj.spec.odd}]", wantError: "entry 0 has a name that cannot be one"},
		"no namespace's": {text: "[{'group': '', 'kind': 'Pod', 'name': name, 'namespace': obj.spec.odd}]", wantError: "entry 0 has a namespace that cannot be one"},
		"the rest": {
			text: "obj.spec.references", want: []Found{{Group: "example.com", Kind: "Gadget", Namespace: "far", Name: "g"}},
			wantError: "entry 1 is no map; entry 2 has no group",
		},
		"many malformed": {text: "lists.range(9).map(i, {'group': '', 'kind': obj.spec.number, 'name': name})", wantError: "entry 2 has a kind that is no string; 6 more entries are malformed"},
		"too many": {
			text:      "lists.range(2000).map(i, {'group': 'example.com', 'kind': 'Widget', 'name': i < 2 ? 'x' : ''})",
			want:      []Found{widget("x"), widget("x")},
			wantError: "names more than 1000 objects; the others are left out",
		},
		"too costly": {text: "lists.range(10000).map(i, lists.range(1000)).map(l, {'group': '', 'kind': 'Node', 'name': name})", wantError: "cost limit exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := CompileReferences(t.Context(), nil, tc.text)
			if err != nil {
				t.Fatal(err)
			}
			in := &Input{Group: "example.com", Version: "v1", Resource: "widgets", Namespace: "shop", Name: "it", Object: func() (map[string]any, error) { return object, nil }}
			got, err := r.Find(t.Context(), in)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("found (-want +got):\n%s", diff)
			}
			text := ""
			if failed := (*EvaluationError)(nil); errors.As(err, &failed) {
				text = failed.Error()
			} else if err != nil {
				t.Fatalf("error is a %T", err)
			}
			if tc.wantError == "" && text != "" || !strings.Contains(text, tc.wantError) || strings.Contains(text, secret) {
				t.Errorf("error %q, want %q", text, tc.wantError)
			}
			if in.Cost > CostLimit {
				t.Errorf("cost %d is charged", in.Cost)
			}
		})
	}
}

func TestReferencesGiveUp(t *testing.T) {
	t.Parallel()
	r, err := CompileReferences(t.Context(), nil, "[]")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Find(ctx, &Input{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
}

package refs

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"graphview.dev/graphview/graph"
)

// extract compiles rules for example.com/Odd and applies them to an object.
func extract(t *testing.T, rules []Rule, object string) []string {
	t.Helper()
	x, err := New(rules...)
	if err != nil {
		t.Fatal(err)
	}
	var decoded map[string]any
	if err := yaml.Unmarshal([]byte(object), &decoded); err != nil {
		t.Fatal(err)
	}
	return render(x.Extract(odd, decoded))
}

func TestExtract(t *testing.T) {
	for name, test := range map[string]struct {
		rule   Rule
		object string
		want   string
	}{
		"UnknownScopeHasOwnNamespace": {
			rule:   Rule{Path: "spec.ref", To: coreKind("X")},
			object: `{metadata: {namespace: own}, spec: {ref: a}}`,
			want:   `r core/X own?/a spec.ref`,
		},
		"UnknownScopeOfClusterScopedObject": {
			rule:   Rule{Path: "spec.ref", To: coreKind("X")},
			object: `{spec: {ref: a}}`,
			want:   `r core/X ?/a spec.ref`,
		},
		"NamespacePairedByIndex": {
			rule:   Rule{Path: "spec.gadgets[].name", To: coreKind("X"), Namespace: []string{".spec.gadgets[].namespace"}},
			object: `{metadata: {namespace: own}, spec: {gadgets: [{name: a, namespace: na}, {name: b}, {name: c, namespace: nc}]}}`,
			want: `
				r core/X na?/a  spec.gadgets[].name
				r core/X own?/b spec.gadgets[].name
				r core/X nc?/c  spec.gadgets[].name`,
		},
		"NamesInList": {
			rule:   Rule{Path: "spec.names[]", To: coreKind("X"), Type: graph.Transitive, Namespace: []string{"namespace"}},
			object: `{spec: {namespace: nn, names: [b, a, 7, b]}}`,
			want: `
				t core/X nn?/b spec.names[]
				t core/X nn?/a spec.names[]`,
		},
		"MapValuesInOrderOfKeys": {
			rule:   Rule{Path: "spec.by{}.name", To: coreKind("X")},
			object: `{spec: {by: {z: {name: 1st}, a: {name: 2nd}, m: text}}}`,
			want: `
				r core/X ?/2nd spec.by{}.name
				r core/X ?/1st spec.by{}.name`,
		},
		"MapValuesAreNoElements": {
			rule:   Rule{Path: "spec.by[].name", To: coreKind("X")},
			object: `{spec: {by: {z: {name: a}}}}`,
		},
		"DefaultsOfAbsentFields": {
			rule: Rule{Path: "refs[]", Method: Object, To: Target{
				Group: Part{Field: "group", Value: "gateway.example.com"},
				Kind:  Part{Field: "kind", Value: "Gateway"},
			}},
			object: `{refs: [{name: a}, {name: b, group: "", kind: Service}, {name: c, group: null, kind: ""}]}`,
			want: `
				r gateway.example.com/Gateway ?/a refs[]
				r core/Service                ?/b refs[]
				r gateway.example.com/Gateway ?/c refs[]`,
		},
		"Everywhere": {
			rule:   Rule{Path: "spec.selector", Method: Labels, To: coreKind("Pod"), AllNamespaces: true},
			object: `{metadata: {namespace: own}, spec: {selector: {a: b}}}`,
			want:   `r core/Pod */{a=b} spec.selector`,
		},
		"OfOneOfSeveralValues": {
			rule:   Rule{Path: "rules[].names[]", To: coreKind("X"), If: []string{"groups:", "resources:xs,all:true"}},
			object: `{rules: [{groups: [a, ""], resources: [xs], names: [a]}, {groups: [a], resources: [xs], names: [b]}, {groups: "", all: true, names: [c]}, {groups: [""], names: [d]}]}`,
			want: `
				r core/X ?/a rules[].names[]
				r core/X ?/c rules[].names[]`,
		},
		"NumberInTemplate": {
			rule:   Rule{Path: "history[].name", To: coreKind("X"), Named: "{}.v{version}"},
			object: `{history: [{name: a, version: 3}, {name: b, version: 1.5}, {name: c}]}`,
			want:   `r core/X ?/a.v3 history[].name`,
		},
		"NamespaceThatIsATemplate": {
			rule:   Rule{Path: "spec.ref", To: coreKind("X"), Namespace: []string{"ns"}},
			object: `{metadata: {namespace: own}, spec: {ref: a, ns: "${pvc.namespace}"}}`,
		},
		"OfTheSameNameInAnotherNamespace": {
			rule:   Rule{Path: "spec.refs[].name", To: Target{Group: Part{Value: "example.com"}, Kind: Part{Value: "Odd"}}, Namespace: []string{"ns"}},
			object: `{metadata: {namespace: own, name: a}, spec: {refs: [{name: a}, {name: a, ns: other}]}}`,
			want:   `r example.com/Odd other?/a spec.refs[].name`,
		},
		"ListedNamespaces": {
			rule:   Rule{Path: "refs[].labels", Method: Labels, To: coreKind("Pod"), Listed: "in"},
			object: `{metadata: {namespace: own}, refs: [{labels: {a: a}, in: {matchNames: []}}, {labels: {b: b}, in: {matchNames: [other, 7]}}, {labels: {c: c}, in: {matchNames: text}}, {labels: {d: d}, in: {any: true}}]}`,
			want: `
				r core/Pod own?/{a=a}   refs[].labels
				r core/Pod other?/{b=b} refs[].labels
				r core/Pod */{d=d}      refs[].labels`,
		},
		"UnlessFromRoot": {
			rule:   Rule{Path: "spec.refs[]", To: coreKind("X"), Unless: []string{".spec.kubeConfig"}},
			object: `{spec: {refs: [a], kubeConfig: {}}}`,
		},
		"UnlessNull": {
			rule:   Rule{Path: "spec.refs[]", To: coreKind("X"), Unless: []string{".spec.kubeConfig"}},
			object: `{spec: {refs: [a], kubeConfig: null}}`,
			want:   `r core/X ?/a spec.refs[]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			test.rule.From = odd
			got := extract(t, []Rule{test.rule}, test.object)
			if diff := cmp.Diff(lines(test.want), got); diff != "" {
				t.Errorf("references (-want +got):\n%s", diff)
			}
		})
	}
}

func TestExtractAnyKind(t *testing.T) {
	everywhere, own := coreKind("Any"), coreKind("Own")
	x, err := New(Rule{From: AnyKind, Path: "app", To: everywhere}, Rule{From: odd, Path: "ref", To: own})
	if err != nil {
		t.Fatal(err)
	}
	object := map[string]any{"app": "a", "ref": "b"}
	for kind, want := range map[graph.Kind][]string{
		odd:                               {"r core/Any ?/a app", "r core/Own ?/b ref"},
		{Group: "", Kind: "Odd"}:          {"r core/Any ?/a app"},
		{Group: "other.com", Kind: "Not"}: {"r core/Any ?/a app"},
	} {
		if diff := cmp.Diff(want, render(x.Extract(kind, object))); diff != "" {
			t.Errorf("%v: references (-want +got):\n%s", kind, diff)
		}
	}
}

func TestExtractZero(t *testing.T) {
	var x Extractor
	object := map[string]any{"metadata": map[string]any{"ownerReferences": []any{
		map[string]any{"apiVersion": "v1", "kind": "K", "name": "n"},
	}}}
	want := []string{"or core/K ?/n"}
	if diff := cmp.Diff(want, render(x.Extract(odd, object))); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
	if got := x.Extract(odd, nil); got != nil {
		t.Errorf("a nil object gives %v", got)
	}
}

// TestExtractMany finds more references than are kept in place, each once and
// in order, owners first.
func TestExtractMany(t *testing.T) {
	object, want := map[string]any{}, []string(nil)
	var owners, names []any
	for i := range 2 * few {
		owners = append(owners, map[string]any{"apiVersion": "v1", "kind": "K", "name": strconv.Itoa(i)})
		want = append(want, fmt.Sprintf("or core/K ?/%d", i))
	}
	for i := range 3 * few {
		names = append(names, strconv.Itoa(i), strconv.Itoa(i/2), strconv.Itoa(i))
		want = append(want, fmt.Sprintf("r core/X ?/%d names[]", i))
	}
	object["metadata"] = map[string]any{"ownerReferences": owners}
	object["names"] = names
	x, err := New(Rule{From: odd, Path: "names[]", To: coreKind("X")})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, render(x.Extract(odd, object))); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
}

// TestExtractManyOptional: a reference that several elements of a list make is optional only if it is for each.
func TestExtractManyOptional(t *testing.T) {
	var refs []any
	for i := range 3 * few {
		name := strconv.Itoa(i)
		refs = append(refs, map[string]any{"name": name, "optional": i%2 == 0}, map[string]any{"name": name, "optional": i%3 == 0})
	}
	x, err := New(Rule{From: odd, Path: "refs[]", Method: Object, To: coreKind("X"), OptionalIf: []string{"optional:true"}})
	if err != nil {
		t.Fatal(err)
	}
	for i, ref := range x.Extract(odd, map[string]any{"refs": refs}) {
		if ref.Name != strconv.Itoa(i) || ref.Optional != (i%6 == 0) {
			t.Errorf("reference %d is to %s, optional: %t", i, ref.Name, ref.Optional)
		}
	}
}

func TestExtractBound(t *testing.T) {
	var owners, names []any
	for i := range MaxReferences - 1 {
		owners = append(owners, map[string]any{"apiVersion": "v1", "kind": "K", "name": strconv.Itoa(i)})
	}
	for i := range 10 {
		names = append(names, strconv.Itoa(i))
	}
	object := map[string]any{"metadata": map[string]any{"ownerReferences": owners}, "names": names}
	x, err := New(Rule{From: odd, Path: "names[]", To: coreKind("X")})
	if err != nil {
		t.Fatal(err)
	}
	got := x.Extract(odd, object)
	if len(got) != MaxReferences || got[len(got)-1].Name != "0" || got[len(got)-1].Field == "" {
		t.Errorf("%d references, the last %+v", len(got), got[len(got)-1])
	}
	object["metadata"] = map[string]any{"ownerReferences": append(owners, owners...)}
	if got := x.Extract(odd, object); len(got) != MaxReferences {
		t.Errorf("%d references of twice as many owners", len(got))
	}
}

func TestNewRefuses(t *testing.T) {
	x := coreKind("X")
	for name, test := range map[string]struct {
		rule Rule
		want string
	}{
		"NoSource":           {Rule{From: graph.Kind{Group: "g"}, Path: "a", To: x}, "no source kind"},
		"HalfAnySource":      {Rule{From: graph.Kind{Group: "*", Kind: "K"}, Path: "a", To: x}, "neither a kind nor */*"},
		"NoTarget":           {Rule{Path: "a"}, "no target kind"},
		"NoPath":             {Rule{To: x}, "path is empty"},
		"ListAtRoot":         {Rule{Path: "[].a", To: x}, "does not start with a key"},
		"MissingDot":         {Rule{Path: "a[]b", To: x}, "expected a dot"},
		"EmptyKey":           {Rule{Path: "a..b", To: x}, "expected a key"},
		"TrailingDot":        {Rule{Path: "a.", To: x}, "expected a key"},
		"Index":              {Rule{Path: "a[0]", To: x}, "expected a dot"},
		"OpenQuote":          {Rule{Path: "a['b", To: x}, "expected a key and ']"},
		"TooDeep":            {Rule{Path: strings.Repeat("a.", maxDepth) + "a", To: x}, "more than 32 steps"},
		"OwnerType":          {Rule{Path: "a", To: x, Type: graph.OwnerReference}, "neither r nor t"},
		"UnknownMethod":      {Rule{Path: "a", To: x, Method: Names + 1}, "unknown method"},
		"UnknownScope":       {Rule{Path: "a", To: x, Scope: graph.ScopeCluster + 1}, "unknown scope"},
		"ClusterNamespace":   {Rule{Path: "a", To: x, Scope: graph.ScopeCluster, Namespace: []string{"b"}}, "has no namespace"},
		"EmptyName":          {Rule{Path: "a", To: x, EmptySelectsAll: true}, "only a selector"},
		"EverywhereButThere": {Rule{Path: "a", To: x, Method: Labels, AllNamespaces: true, Namespace: []string{"b"}}, "matches everywhere"},
		"OtherList":          {Rule{Path: "a[].b", To: x, Namespace: []string{".c[].b"}}, "enters a list or a map that the path does not"},
		"DeeperList":         {Rule{Path: "a[].b", To: x, Unless: []string{"c[]"}}, "enters a list or a map that the path does not"},
		"FieldOfGroup":       {Rule{Path: "a", To: Target{Group: Part{Field: "b..c"}, Kind: Part{Value: "K"}}}, "target group: field"},
		"NamespaceTwice":     {Rule{Path: "a", To: x, Method: Selector, Selected: "b", Listed: "c"}, "says twice"},
		"NamespacesOfName":   {Rule{Path: "a", To: x, Selected: "b"}, "only a selector"},
		"FieldOfNamespaces":  {Rule{Path: "a", To: x, Method: Selector, Selected: "b[]"}, "namespaces: field"},
		"FormOfSelector":     {Rule{Path: "a", To: x, Method: Labels, As: "{name}"}, "only a name"},
		"FormWithoutName":    {Rule{Path: "a", To: x, As: "{ns}/{*}"}, "expected one name"},
		"FormWithTwo":        {Rule{Path: "a", To: x, As: "{name}{label}"}, "expected one name"},
		"UnknownCapture":     {Rule{Path: "a", To: x, As: "{nme}"}, "expected {name}"},
		"OpenTemplate":       {Rule{Path: "a", To: x, Named: "a{b"}, "closing brace"},
		"FieldOfTemplate":    {Rule{Path: "a", To: x, Named: "{b..c}"}, "template: field"},
		"FieldOfCondition":   {Rule{Path: "a", To: x, If: []string{"a,b[]:c"}}, "if: condition"},
		"FieldOfException":   {Rule{Path: "a", To: x, Unless: []string{"b c"}}, "unless: condition"},
		"FieldOfKind":        {Rule{Path: "a", To: Target{Kind: Part{Field: "b c"}}}, "target kind: field"},
	} {
		t.Run(name, func(t *testing.T) {
			if test.rule.From == (graph.Kind{}) && name != "NoSource" {
				test.rule.From = odd
			}
			_, err := New(test.rule)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

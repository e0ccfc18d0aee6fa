package refs

import (
	"io/fs"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"graphview.dev/graphview/graph"
)

func TestReadTable(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		want  []Rule
	}{
		"Row": {
			files: map[string]string{"a": "kind core/Pod\n  spec.nodeName  core/Node  cluster # where it runs\n"},
			want:  []Rule{{From: graph.Kind{Kind: "Pod"}, Path: "spec.nodeName", To: coreKind("Node"), Scope: graph.ScopeCluster}},
		},
		"FixedKindsAreNamespaced": {
			files: map[string]string{"a": "kind g/K\n\tref g/K t\n"},
			want: []Rule{{
				From: graph.Kind{Group: "g", Kind: "K"}, Path: "ref", Type: graph.Transitive, Scope: graph.ScopeNamespaced,
				To: Target{Group: Part{Value: "g"}, Kind: Part{Value: "K"}},
			}},
		},
		"AllWords": {
			files: map[string]string{"a": "kind g/K\n ref {apiGroup=core}/{resource:pods=Pod,Pod} object namespaced unless=.spec.off ns=namespace,.spec.ns\n"},
			want: []Rule{{
				From: graph.Kind{Group: "g", Kind: "K"}, Path: "ref", Method: Object, Scope: graph.ScopeNamespaced,
				Unless: []string{".spec.off"}, Namespace: []string{"namespace", ".spec.ns"},
				To: Target{
					Group: Part{Field: "apiGroup"},
					Kind:  Part{Field: "resource", Values: map[string]string{"pods": "Pod", "Pod": "Pod"}},
				},
			}},
		},
		"Selectors": {
			files: map[string]string{"a": "kind */*\n s core/{kind=Pod} selector empty=all everywhere\n l core/Pod labels\n"},
			want: []Rule{
				{From: AnyKind, Path: "s", Method: Selector, EmptySelectsAll: true, AllNamespaces: true, To: Target{Kind: Part{Field: "kind", Value: "Pod"}}},
				{From: AnyKind, Path: "l", Method: Labels, Scope: graph.ScopeNamespaced, To: coreKind("Pod")},
			},
		},
		"Naming": {
			files: map[string]string{"a": "kind g/K\n host core/Service as={label}|{label}.{ns}.svc except=mesh,*\n id */* inventory unless=.spec.remote\n" +
				" c core/{global=A:true=B,false=A} named={}-of-{v} if=a:x,b:y if=c\n"},
			want: []Rule{
				{From: graph.Kind{Group: "g", Kind: "K"}, Path: "host", To: coreKind("Service"), Scope: graph.ScopeNamespaced, As: "{label}|{label}.{ns}.svc", Except: []string{"mesh", "*"}},
				{From: graph.Kind{Group: "g", Kind: "K"}, Path: "id", Method: Inventory, Unless: []string{".spec.remote"}},
				{
					From: graph.Kind{Group: "g", Kind: "K"}, Path: "c", Named: "{}-of-{v}", If: []string{"a:x,b:y", "c"},
					To: Target{Kind: Part{Field: "global", Value: "A", Values: map[string]string{"true": "B", "false": "A"}}},
				},
			},
		},
		"KeysWithSlashes": {
			files: map[string]string{"a": "kind g/K\n metadata.annotations['e.com/a'] {['e.com/g']=g}/{['e.com/k']=K}\n"},
			want: []Rule{{
				From: graph.Kind{Group: "g", Kind: "K"}, Path: "metadata.annotations['e.com/a']",
				To: Target{Group: Part{Field: "['e.com/g']", Value: "g"}, Kind: Part{Field: "['e.com/k']", Value: "K"}},
			}},
		},
		"TransitiveTemplate": {
			files: map[string]string{"a": "template o\n n include i\ntemplate i\n s core/X if=.a:x,b\n p core/Pod selector selected-ns=w\nkind g/K\n l[] include o t\n"},
			want: []Rule{
				{From: graph.Kind{Group: "g", Kind: "K"}, Path: "l[].n.s", Type: graph.Transitive, To: coreKind("X"), Scope: graph.ScopeNamespaced, If: []string{".l[].n.a:x,b"}},
				{From: graph.Kind{Group: "g", Kind: "K"}, Path: "l[].n.p", Type: graph.Transitive, Method: Selector, To: coreKind("Pod"), Scope: graph.ScopeNamespaced, Selected: "w"},
			},
		},
		"TemplateOfALaterFileInOne": {
			files: map[string]string{
				"a": "kind g/A, g/B\n spec.items[] include outer\n",
				"b": "template outer\n inner include inner\ntemplate inner\n name {g}/{.kind} ns=.ns,ns unless=.off\n",
			},
			want: []Rule{mounted("A"), mounted("B")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readRules(tableOf(test.files))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("rules (-want +got):\n%s", diff)
			}
		})
	}
}

// mounted is the rule of a template in a template, below lists of a kind.
func mounted(kind string) Rule {
	return Rule{
		From: graph.Kind{Group: "g", Kind: kind}, Path: "spec.items[].inner.name",
		To:        Target{Group: Part{Field: "g"}, Kind: Part{Field: ".spec.items[].inner.kind"}},
		Namespace: []string{".spec.items[].inner.ns", "ns"},
		Unless:    []string{".spec.items[].inner.off"},
	}
}

func TestReadTableRefuses(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"RowFirst":        {" a core/B", "a.refs:1: row before the first heading"},
		"EmptyHeading":    {"\nkind", `a.refs:2: heading "kind" names nothing`},
		"UnknownHeading":  {"kinds g/K", `not "kinds"`},
		"TwoTemplates":    {"template a b", `not "template"`},
		"KindWithoutG":    {"kind Pod", "expected group/Kind"},
		"KindAfterComma":  {"kind g/K,", "expected group/Kind"},
		"SameTemplate":    {"template a\ntemplate a", "is there already"},
		"PathOnly":        {"kind g/K\n a", "expected a path and a target"},
		"TargetWithoutG":  {"kind g/K\n a Pod", "expected group/Kind"},
		"OpenGroup":       {"kind g/K\n a {g/Pod", "expected group/Kind"},
		"OpenKind":        {"kind g/K\n a g/{k", "closing brace"},
		"NoValues":        {"kind g/K\n a g/{k:}", "expected values"},
		"NoMeaning":       {"kind g/K\n a g/{k:v=}", "expected values"},
		"UnknownWord":     {"kind g/K\n a g/K clustre", `unknown word "clustre"`},
		"NoField":         {"kind g/K\n a g/K ns=", `unknown word "ns="`},
		"IncludeNothing":  {"kind g/K\n a include", "expected one template"},
		"IncludeUnknown":  {"kind g/K\n a include b", `a.refs:2: no template "b"`},
		"IncludeInCircle": {"template a\n x include b\ntemplate b\n y include a\nkind g/K\n z include a", "more than 32 steps"},
		"Path":            {"kind g/K\n a..b g/K", "a.refs:2: path"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readRules(tableOf(map[string]string{"a": test.text}))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

// readRules returns the rules of all kinds in table files.
func readRules(files fs.FS) ([]Rule, error) {
	t, err := readTable(files)
	if err != nil {
		return nil, err
	}
	return t.rules(func(graph.Kind) bool { return true })
}

// Nothing of the built-in table is compiled before it is asked for, so a test asks for all:
// it comes to what all its rules come to if they are compiled together.
func TestBuiltinCompiles(t *testing.T) {
	all, err := New(BuiltinRules()...)
	if err != nil {
		t.Fatal(err)
	}
	for kind := range all.kinds {
		want, got := all.kinds.of(kind), Builtin().kinds.of(kind)
		if !reflect.DeepEqual(want, got) { // cmp takes most of a minute for all of them
			t.Errorf("%v (-together +alone):\n%s", kind, cmp.Diff(want, got, deeply))
		}
	}
	if want, got := len(all.kinds), len(Builtin().kinds); got != want {
		t.Errorf("%d kinds, want %d", got, want)
	}
	if !reflect.DeepEqual(all.commonRules, Builtin().commonRules) {
		t.Errorf("every kind (-together +alone):\n%s", cmp.Diff(all.commonRules, Builtin().commonRules, deeply))
	}
}

// deeply looks into everything that has been compiled.
var deeply = cmp.Exporter(func(reflect.Type) bool { return true })

func tableOf(files map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range files {
		out["table/"+name+".refs"] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

func TestBuiltinHasNoRowTwice(t *testing.T) {
	type key struct {
		from graph.Kind
		path string
		to   string
		mark string
		// Rows of one target may differ in their conditions.
		conditions string
	}
	seen := map[key]bool{}
	for _, rule := range BuiltinRules() {
		k := key{rule.From, rule.Path, targetString(&rule.To), rule.Mark, strings.Join(rule.If, " ") + "|" + strings.Join(rule.Unless, " ")}
		if seen[k] {
			t.Errorf("%v", k)
		}
		seen[k] = true
	}
}

func targetString(target *Target) string {
	return target.Group.Value + target.Group.Field + "/" + target.Kind.Value + target.Kind.Field
}

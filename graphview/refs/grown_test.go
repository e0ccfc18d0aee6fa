package refs

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/jsontree"
)

// awkward are rules that the built-in table has no row like.
var awkward = []Rule{
	{From: AnyKind, Path: "metadata.labels['example.com/app']", To: Target{Group: Part{Value: "example.com"}, Kind: Part{Value: "App"}}, Namespace: []string{"['example.com/app-ns']"}},
	{From: odd, Path: "spec.names[]", To: coreKind("Secret"), Namespace: []string{"ns", ".spec.deep.ns"}},
	{From: odd, Path: "spec.names[]", Type: graph.Transitive, To: coreKind("ConfigMap"), Unless: []string{".spec.remote"}},
	{From: odd, Path: "spec.matrix[][].name", To: coreKind("Secret"), Namespace: []string{".spec.matrix[][].namespace"}},
	{From: odd, Path: "spec.byKey{}.items[]", Method: Object, To: Target{Group: Part{Field: "group", Value: "g.example.com"}, Kind: Part{Field: "kind", Value: "Default"}}, Namespace: []string{".spec.byKey{}.namespace", "namespace"}},
	{From: odd, Path: "spec.list[].selector", Method: Selector, To: Target{Kind: Part{Field: "resource", Values: map[string]string{"pods": "Pod", "services": "Service"}}}, AllNamespaces: true},
	{From: odd, Path: "spec.list[].labels", Method: Labels, EmptySelectsAll: true, To: coreKind("Pod"), Namespace: []string{".spec.list[].target.namespace"}},
	{From: odd, Path: "spec.list[].target", Method: Object, To: Target{Group: Part{Field: "of.apiVersion"}, Kind: Part{Field: "of.kind"}}, Unless: []string{"remote"}},
	{From: odd, Path: "spec.hosts[]", To: coreKind("Service"), As: "{label}|{label}.{ns}.svc|{label}.{ns}.svc.{*}", Except: []string{"mesh"}, Scope: graph.ScopeNamespaced},
	{From: odd, Path: "spec.list[].target", Method: Object, To: coreKind("Lease"), Named: "{}-of-{v}", If: []string{"kind:Pod,.spec.deep.ns", "enabled:true"}},
	{From: odd, Path: "spec.list[].also", Method: Object, To: Target{Kind: Part{Field: "enabled", Value: "X", Values: map[string]string{"true": "Y", "a": "Z"}}}, Unless: []string{"kind:Pod", "tags:a"}},
	{From: odd, Path: "spec.select", Method: Selector, To: coreKind("Pod"), Selected: "where", EmptySelectsAll: true},
	{From: odd, Path: "spec.pick", Method: Labels, To: coreKind("Pod"), Listed: ".spec.which"},
	{From: odd, Path: "data.apps[].spec", Method: Application, If: []string{".data.on"}},
	{From: odd, Path: "spec.list[].plugins", Method: Names, To: Target{Group: Part{Value: "example.com"}, Kind: Part{Value: "Plugin"}}, Scope: graph.ScopeNamespaced, As: "{name}|{ns}-{name}@x", If: []string{"enabled:true"}},
	{From: odd, Path: "spec.list[].wide", Method: Names, To: Target{Group: Part{Value: "example.com"}, Kind: Part{Value: "ClusterPlugin"}}, Scope: graph.ScopeCluster, As: "{label}"},
	{From: odd, Path: "status.ids[].id", Method: Inventory, Type: graph.Transitive, Unless: []string{".spec.remote"}},
}

var odd = graph.Kind{Group: "example.com", Kind: "Odd"}

func coreKind(kind string) Target { return Target{Kind: Part{Value: kind}} }

// TestExtractOfParts: the fields of a kind's shape have the same references as the whole object, for objects
// that are grown along the rules' own paths, with a share of wrong types.
func TestExtractOfParts(t *testing.T) {
	rules := append(BuiltinRules(), awkward...)
	x, err := New(rules...)
	if err != nil {
		t.Fatal(err)
	}
	byKind := map[graph.Kind][]Rule{}
	for _, rule := range rules {
		byKind[rule.From] = append(byKind[rule.From], rule)
	}
	random := rand.New(rand.NewPCG(1, 2))
	references := 0
	for kind, own := range byKind {
		if kind == AnyKind {
			kind = graph.Kind{Kind: "Unlisted"} // of a group where nothing is guessed
		}
		for range 100 {
			object := grow(random, slices.Concat(own, byKind[AnyKind]))
			got := x.Extract(kind, object)
			references += len(got)
			comparePart(t, x, kind, object, got)
			if t.Failed() {
				return
			}
		}
	}
	if references < 10_000 {
		t.Errorf("%d references in all objects: they hardly test anything", references)
	}
}

// comparePart extracts from what is left of the object in the kind's shape.
func comparePart(t *testing.T, x *Extractor, kind graph.Kind, object map[string]any, got []graph.Reference) {
	t.Helper()
	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	part, err := jsontree.Part(data, x.Shape(kind))
	if err != nil {
		t.Fatal(err)
	}
	again := x.Extract(kind, part)
	if reflect.DeepEqual(got, again) {
		return
	}
	if diff := cmp.Diff(got, again); diff != "" {
		t.Errorf("%s: references (-whole +part):\n%s\n%s", kindString(kind), diff, data)
	}
}

// grow makes an object that has some of the rules' fields.
func grow(random *rand.Rand, rules []Rule) map[string]any {
	object := map[string]any{"metadata": map[string]any{"name": "it"}}
	if random.IntN(4) > 0 {
		object["metadata"].(map[string]any)["namespace"] = "own"
	}
	for range 1 + random.IntN(12) {
		rule := rules[random.IntN(len(rules))]
		path, _ := parsePath(rule.Path)
		plant(random, object, path, leafValue(random, rule.Method))
		for _, field := range companions(&rule) {
			if random.IntN(3) == 0 {
				continue
			}
			field, value, _ := strings.Cut(field, ":")
			below := path[:holder(path)]
			if rule.Method == Object {
				below = path
			}
			if field[0] == '.' {
				field, below = field[1:], nil
			}
			steps, _ := parsePath(field)
			plant(random, object, slices.Concat(below, steps), companionValue(random, &rule, value))
		}
	}
	return object
}

// companions are the fields that a rule reads beside its own, with the values
// that it asks for.
func companions(rule *Rule) []string {
	fields := append(slices.Clone(rule.Namespace), rule.To.Group.Field, rule.To.Kind.Field, rule.Selected, rule.Listed)
	for _, condition := range slices.Concat(rule.If, rule.Unless, rule.OptionalIf) {
		fields = append(fields, strings.Split(condition, ",")...)
	}
	for _, part := range strings.Split(rule.Named, "{")[1:] {
		field, _, _ := strings.Cut(part, "}")
		fields = append(fields, field)
	}
	return slices.DeleteFunc(fields, func(field string) bool { return field == "" })
}

// companionValue is often what a rule asks for.
func companionValue(random *rand.Rand, rule *Rule, wanted string) any {
	switch {
	case wanted != "" && random.IntN(4) > 0:
		return []any{wanted, []any{"other", wanted}, wanted == "true"}[random.IntN(3)]
	case rule.Selected != "":
		return []any{map[string]any{}, map[string]any{"matchLabels": map[string]any{nameLabel: text(random)}}, map[string]any{"matchLabels": labels(random)}}[random.IntN(3)]
	case rule.Listed != "":
		return []any{map[string]any{}, map[string]any{"any": true}, map[string]any{"matchNames": []any{text(random), text(random)}}}[random.IntN(3)]
	}
	return text(random)
}

// plant sets a value below a path, in one or all elements of its lists, where
// the values on the way allow it.
func plant(random *rand.Rand, value any, path []step, leaf any) any {
	if random.IntN(60) == 0 {
		return text(random)
	}
	if len(path) == 0 {
		if object, ok := value.(map[string]any); ok {
			if planted, ok := leaf.(map[string]any); ok {
				maps.Copy(object, planted)
			}
			return object
		}
		return leaf
	}
	if path[0].kind == elements {
		list, ok := value.([]any)
		if !ok {
			list = make([]any, 1+random.IntN(3))
		}
		for i := range list {
			if random.IntN(3) > 0 {
				list[i] = plant(random, list[i], path[1:], leaf)
			}
		}
		return list
	}
	object, ok := value.(map[string]any)
	if !ok {
		object = map[string]any{}
	}
	key := path[0].key
	if path[0].kind == values {
		key = []string{"x", "y", "z"}[random.IntN(3)]
	}
	object[key] = plant(random, object[key], path[1:], leaf)
	return object
}

func leafValue(random *rand.Rand, method Method) any {
	switch method {
	case Object:
		return map[string]any{"name": text(random)}
	case Inventory:
		return []string{"own_a__b_apps_Deployment", "_n__Node", "own_a_b_c_D", "a_b_C", "own_a_core_", "__"}[random.IntN(6)]
	case Application:
		return []string{
			`{"labelKey":"a","labelValue":"1","usedGKs":[{"Group":"","Kind":"Pod"},{"Group":"g","Kind":"K"},{"Group":"g"}]}`,
			`{"labelKey":"a","labelValue":"1"}`, `{"labelKey":"-","labelValue":"1","usedGKs":[{"Kind":"Pod"}]}`, `{"usedGKs":[{"Kind":"Pod"}]}`, `[]`, "",
		}[random.IntN(6)]
	case Address:
		hosts := []string{"web", "web.shop", "a.web.shop", "web.shop.svc", "a.web.shop.svc.cluster.local", "web.io", "-a", "a.b.c.d", "10.0.0.1", "WEB", ""}
		host := hosts[random.IntN(len(hosts))]
		return []string{"", "http://", "tcp://u:p@"}[random.IntN(3)] + host + []string{"", ":80", ":x", "/p", ":80/p?q", ":80,web:81", strings.Repeat(" -x", 9) + " web:80", strings.Repeat(",web:80", 6) + ",db:80,c:80"}[random.IntN(8)]
	case Names:
		return []string{"a", "a,b", " a-b-c@x , d@x", "own-a@x,own-a-b.c@x", "-@x", "a--b@x", ",", "A", ""}[random.IntN(9)]
	case Labels:
		return labels(random)
	case Selector:
		return map[string]any{"matchLabels": labels(random)}
	case Name:
	}
	return text(random)
}

func labels(random *rand.Rand) map[string]any {
	out := map[string]any{}
	for range random.IntN(3) {
		out[[]string{"app", "tier", "zone"}[random.IntN(3)]] = text(random)
	}
	return out
}

// text is mostly a plausible string.
func text(random *rand.Rand) any {
	odd := []any{nil, "", 7.0, true, []any{"a"}, map[string]any{"name": "a"}, "a/b/c"}
	plausible := []any{"a", "b", "c", "v1", "apps/v1", "Pod", "Role", "ServiceAccount", "services", "pods", "own"}
	if random.IntN(4) == 0 {
		return []any{"a.b.svc", "b.own.svc.cluster.local", "mesh", "own/a", 3.0, "*", "example.com"}[random.IntN(7)]
	}
	if random.IntN(8) == 0 {
		return odd[random.IntN(len(odd))]
	}
	return plausible[random.IntN(len(plausible))]
}

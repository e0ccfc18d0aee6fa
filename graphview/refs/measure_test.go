package refs

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"graphview.dev/graphview/graph"
)

// The precision and recall that conventions must reach, compared with the catalogue.
// Precision matters more: the remaining errors are fields that only a project's
// documentation explains (an object in another cluster or namespace). Recall may be low:
// bare names (spec.secrets[], activeService) and fields without a kind (dependsOn[],
// caCertRef) are missed.
const (
	leastPrecision       = 0.95
	leastRecallOfFields  = 0.75
	leastRecallOfObjects = 0.75
)

// tally counts how guesses compare with what is so.
type tally struct{ right, wrong, missed int }

func (m *tally) recall() float64    { return float64(m.right) / float64(m.right+m.missed) }
func (m *tally) precision() float64 { return float64(m.right) / float64(m.right+m.wrong) }

// claim is what a reference says, whatever its field.
type claim struct {
	to              graph.Kind
	namespace, name string
}

// TestConventionsMeasured applies the conventions to the kinds of the catalogue that are not
// of Kubernetes, as if the table did not list them. It counts references by name, and takes
// the kinds of the catalogue as served.
func TestConventionsMeasured(t *testing.T) {
	served := servedKinds()
	scopes := map[graph.Kind]graph.Scope{}
	for kind := range served {
		scopes[kind] = graph.ScopeNamespaced
		if clusterScoped[kindString(kind)] {
			scopes[kind] = graph.ScopeCluster
		}
	}
	index := NewServed(scopes)
	var fields, objects tally
	for _, rule := range BuiltinRules() {
		if kubernetesGroups[rule.From.Group] || rule.From == AnyKind || !guessable(&rule) {
			continue
		}
		object := planted(&rule)
		known := claims(byRule(t, &rule, object), served, nil)
		fields.add(known, claims(conventions(index, rule.From, object, nodes{}, maxGuessed), served, known))
	}
	for kind, object := range goldenObjects(t) {
		if !Builtin().Lists(kind.Kind) || kubernetesGroups[kind.Group] {
			continue
		}
		var known []graph.Reference
		for _, ref := range Builtin().Extract(kind.Kind, object) {
			if ref.Type != graph.OwnerReference && ref.Selector == nil && !strings.HasPrefix(ref.Field, "metadata.") && !strings.Contains(ref.Field, "inventory") {
				known = append(known, ref)
			}
		}
		// The names of fields do not say in which cluster the object is.
		for _, there := range Remotes(kind.Kind, object) {
			known = append(known, graph.Reference{To: there.To, Namespace: there.Namespace, Name: there.Name})
		}
		right := claims(known, served, nil)
		objects.add(right, claims(conventions(index, kind.Kind, object, nodes{}, maxGuessed), served, right))
	}
	fields.judge(t, "every field of the catalogue", leastRecallOfFields)
	objects.judge(t, "the objects of the scenarios", leastRecallOfObjects)
}

func (m *tally) judge(t *testing.T, name string, leastRecall float64) {
	t.Helper()
	t.Logf("%s: precision %.2f, recall %.2f (%d right, %d wrong, %d missed)", name, m.precision(), m.recall(), m.right, m.wrong, m.missed)
	if m.precision() < leastPrecision || m.recall() < leastRecall {
		t.Errorf("%s: want a precision of at least %.2f and a recall of %.2f", name, leastPrecision, leastRecall)
	}
}

func (m *tally) add(known, guessed map[claim]bool) {
	for c := range guessed {
		if known[c] {
			m.right++
		} else {
			m.wrong++
		}
	}
	for c := range known {
		if !guessed[c] {
			m.missed++
		}
	}
}

// guessable tells rules by name from those by selector, label or inventory.
func guessable(rule *Rule) bool {
	return (rule.Method == Name || rule.Method == Object) && rule.As == "" && rule.Named == "" && !strings.HasPrefix(rule.Path, "metadata.") && !strings.Contains(rule.Path, "volumeAttributes[")
}

// planted is an object that has the rule's field and what that needs beside it.
func planted(rule *Rule) map[string]any {
	object := map[string]any{"metadata": map[string]any{"namespace": "own"}}
	path, _ := parsePath(rule.Path)
	base := path[:holder(path)]
	leaf := any("target")
	if rule.Method == Object {
		leaf, base = map[string]any{"name": "target"}, path
	}
	put(object, path, leaf)
	set := func(field, value string) {
		if field == "" {
			return
		}
		relative, fromRoot := strings.CutPrefix(field, ".")
		steps, _ := parsePath(relative)
		if !fromRoot {
			steps = slices.Concat(base, steps)
		}
		put(object, steps, value)
	}
	group := cmp.Or(rule.To.Group.Value, firstOf(rule.To.Group.Values), madeUp.Group)
	kind := cmp.Or(rule.To.Kind.Value, firstOf(rule.To.Kind.Values), madeUp.Kind)
	if strings.HasSuffix(rule.To.Group.Field, "apiVersion") {
		group += "/v1"
	}
	set(rule.To.Group.Field, group)
	if rule.To.Kind.Values["true"] == "" { // no boolean
		set(rule.To.Kind.Field, kind)
	}
	for _, condition := range rule.If {
		field, value, hasValue := strings.Cut(strings.Split(condition, ",")[0], ":")
		if !hasValue {
			continue
		}
		set(field, value)
	}
	return object
}

func firstOf(values map[string]string) string {
	for _, value := range slices.Sorted(maps.Keys(values)) {
		return value
	}
	return ""
}

// put sets a value, in the first element of the lists on its path.
func put(value any, path []step, leaf any) any {
	if len(path) == 0 {
		object, isObject := value.(map[string]any)
		more, both := leaf.(map[string]any)
		if isObject && both {
			maps.Copy(object, more)
			return object
		}
		return leaf
	}
	if path[0].kind == elements {
		list, ok := value.([]any)
		if !ok {
			list = []any{nil}
		}
		list[0] = put(list[0], path[1:], leaf)
		return list
	}
	object, ok := value.(map[string]any)
	if !ok {
		object = map[string]any{}
	}
	key := cmp.Or(path[0].key, "any")
	object[key] = put(object[key], path[1:], leaf)
	return object
}

func byRule(t *testing.T, rule *Rule, object map[string]any) []graph.Reference {
	t.Helper()
	x, err := New(*rule)
	if err != nil {
		t.Fatal(err)
	}
	return x.Extract(rule.From, object)
}

// claims returns the claims of references. An inferred reference counts only if its target
// is known.
func claims(refs []graph.Reference, served map[graph.Kind]bool, known map[claim]bool) map[claim]bool {
	out := map[claim]bool{}
	for _, ref := range refs {
		if !served[ref.To] || ref.To == kinds["Service"].To && ref.Type == graph.Transitive {
			continue // the table lists names, not addresses
		}
		c := claim{to: ref.To, namespace: ref.Namespace, name: ref.Name}
		// The guess has the object's namespace where the kind may have none.
		if clusterScoped[kindString(ref.To)] || ref.To == madeUp {
			c.namespace = ""
		}
		if !ref.Inferred || known == nil || known[c] {
			out[c] = true
		}
	}
	return out
}

// madeUp is the kind that planted names where a rule would take any.
var madeUp = graph.Kind{Group: "target.example.com", Kind: "Target"}

// servedKinds are all that the table knows, and madeUp.
func servedKinds() map[graph.Kind]bool {
	served := map[graph.Kind]bool{madeUp: true}
	for _, rule := range BuiltinRules() {
		served[rule.From] = true
		if rule.To.fixed() {
			served[graph.Kind{Group: rule.To.Group.Value, Kind: rule.To.Kind.Value}] = true
		}
	}
	return served
}

// golden identifies an object of a scenario.
type golden struct {
	graph.Kind
	file, object string
}

func goldenObjects(t *testing.T) map[golden]map[string]any {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	out := map[golden]map[string]any{}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range archive.Files {
			if strings.HasSuffix(part.Name, ".yaml") {
				kind, object := decode(t, part.Data)
				out[golden{kind, file, part.Name}] = object
			}
		}
	}
	return out
}

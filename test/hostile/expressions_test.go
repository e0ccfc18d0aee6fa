package hostile

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"graphview.dev/test/fixture"
)

// bombs are expressions that fit all bounds of a text, and ask for gigabytes or
// hours. The value of each is a bool.
func bombs() map[string]string {
	itself := func(n int) string { return "[[1]]" + strings.Repeat(".map(x,[x,x])", n) }
	long, longer := strings.Repeat("x", 1000), strings.Repeat("y", 4000)
	megabyte := "lists.range(1000).map(i,'" + long + "').join()"
	parts := "[" + strings.TrimSuffix(strings.Repeat("0,", 33), ",") + "]"
	return map[string]string{
		"types that double":       "[{1:1}]" + strings.Repeat(".map(x,{x:x})", 24) + ".size()>0",
		"types in two variables":  "[{1:1}]" + strings.Repeat(".transformList(i,x,{x:x})", 24) + ".size()>0",
		"types of maps of lists":  "[{1:[1]}]" + strings.Repeat(".map(x,{x:[x]})", 24) + ".size()>0",
		"types of optionals":      "[optional.of({1:1})]" + strings.Repeat(".map(x,optional.of({x:x}))", 24) + ".size()>0",
		"replace":                 "lists.range(1000).map(i,'" + long + "'.replace('x','" + longer + "')).size()>0",
		"replace in a chain":      "'" + strings.Repeat("x", 100) + "'" + strings.Repeat(".replace('x','"+strings.Repeat("x", 100)+"')", 10) + ".size()>0",
		"format":                  "[" + itself(16) + "].all(v, lists.range(1000).map(i,'%s'.format([v])).size()>0)",
		"findAll of nothing":      "[" + megabyte + "].all(l, lists.range(1000).map(i,l.findAll('')).size()>0)",
		"split to letters":        "[" + megabyte + "].all(l, lists.range(1000).map(i,l.split('')).size()>0)",
		"join":                    "[lists.range(1000).map(i,'" + longer + "')].all(l, lists.range(1000).map(i,l.join()).size()>0)",
		"flatten":                 itself(40) + ".flatten(60).size()>0",
		"flatten of one level":    "[lists.range(10000)].all(x, lists.range(10000).map(i,x).flatten().size()>0)",
		"a message of itself":     "[" + itself(40) + "].all(v, google.protobuf.Value{list_value: google.protobuf.ListValue{values: v}} != null)",
		"optionals of themselves": "[[1]]" + strings.Repeat(".map(x,[optional.of(x),optional.of(x)])", 40) + ".all(v, v==v)",
		"sets":                    "sets.intersects(lists.range(2000).map(i," + parts + "+[i]),lists.range(2000).map(i," + parts + "+[i+100000]))",
		"distinct":                "lists.range(7000).map(i," + parts + "+[i]).distinct().size()>0",
		"sort in a loop":          "[lists.range(10000)].all(l, lists.range(10000).map(i,l.sort()).size()>0)",
		"ranges of ranges":        "lists.range(10000).map(i,lists.range(10000)).size()>0",
		"upper case in a loop":    "[" + megabyte + "].all(l, lists.range(1000).map(i,l.upperAscii()).size()>0)",
		"quote in a loop":         "[" + megabyte + "].all(l, lists.range(1000).map(i,strings.quote(l)).size()>0)",
		"bytes in a loop":         "[" + megabyte + "].all(l, lists.range(1000).map(i,bytes(l)).size()>0)",
		"reverse in a loop":       "[" + megabyte + "].all(l, lists.range(1000).map(i,l.reverse()).size()>0)",
		"slices in a loop":        "[lists.range(10000)].all(l, lists.range(10000).map(i,l.slice(0,10000)).size()>0)",
		"sum of texts":            "lists.range(24).map(i,'" + long + "')" + strings.Repeat(".map(s,s+s)", 14) + ".size()>0",
		"sum of lists":            "[[1]]" + strings.Repeat(".map(x,x+x)", 40) + ".size()>0",
		"regular expressions":     "[" + megabyte + "].all(l, lists.range(1000).map(i,l.matches('(x+x+)+y'+string(i))).size()>0)",
		"quantities":              "[quantity(lists.range(30).map(i,'" + strings.Repeat("1", 100) + "').join())].all(q, lists.range(10000).map(i,q.add(q)).size()>0)",
		"maps of maps":            "[lists.range(10000)].all(l, lists.range(1000).map(i,l.transformMapEntry(a,b,{string(b):l})).size()>0)",
		"all of itself in itself": "[" + itself(40) + "].all(v, v in [v])",
	}
}

// repeatedBombs are bombs of each sort, for all fields but one: the limit of an expression is the same in each.
var repeatedBombs = []string{
	"types that double", "replace", "flatten", "regular expressions", "sum of lists", "maps of maps", "all of itself in itself",
}

// TestExpressions: an expression that costs too much is refused or aborted, in every field
// for expressions, and its author gets a message.
func TestExpressions(t *testing.T) {
	namespace := newNamespace(t, "bombs")
	makeConfigMap(t, namespace, "one", map[string]string{"a": "b"}, map[string]string{"a": "b"})
	places := map[string]string{
		"resource": `{queries: [{include: {resourceSelectorExpression: %[1]s}}], namespaces: {names: [%[2]s]}}`,
		"object":   `{queries: [{include: {resourceSelectorExpression: "group == '' && resource == 'configmaps'", object: {objectSelectorExpression: %[1]s}}}], namespaces: {names: [%[2]s]}}`,
		"root":     `{queries: [{include: {resourceSelectorExpression: "group == '' && resource == 'configmaps'"}}], namespaces: {names: [%[2]s]}, roots: {objectSelectorExpressions: [%[1]s]}}`,
		"place":    `{queries: [{include: {resourceSelectorExpression: "group == '' && resource == 'configmaps'"}}], namespaces: {objectSelectorExpression: %[1]s}}`,
	}
	for place, spec := range places {
		names := slices.Sorted(maps.Keys(bombs()))
		switch place {
		case "root":
			names = repeatedBombs
		case "resource", "place": // evaluated for each resource or namespace, for which a bomb takes seconds
			names = repeatedBombs[:3]
		}
		t.Run(place, func(t *testing.T) {
			meanwhile(t, func(tries *tally) {
				explode(t, namespace, tries, names, func(name, bomb string) string {
					return view(namespace, place+name, fmt.Sprintf(spec, quoted(bomb), namespace))
				}, func(o *unstructured.Unstructured) (verdict string) {
					switch accepted, ready := said(o, "Accepted"), said(o, "Ready"); {
					case strings.HasPrefix(accepted, "False "):
						return strings.Fields(accepted)[1]
					case strings.HasPrefix(ready, "True "), strings.HasPrefix(ready, "False LimitExceeded"):
						return "judged"
					default:
						return ""
					}
				})
				tries.measure(t)
			})
		})
	}
}

// explode applies what manifest makes of each of the named bombs, some at a time, and deletes it
// when the operator's verdict is in its status.
func explode(t *testing.T, namespace string, tries *tally, names []string, manifest func(name, bomb string) string, verdict func(*unstructured.Unstructured) string) {
	t.Helper()
	objects := declaredT(t, namespace)
	all := bombs()
	inParallel(4, len(names), func(i int) {
		text := manifest(fmt.Sprintf("bomb%d", i), all[names[i]])
		if err := tryApply(t.Context(), text); err != nil {
			tries.add("refused by the API server")
			return
		}
		var o unstructured.Unstructured
		if err := yaml.Unmarshal([]byte(strings.TrimSuffix(text, "---\n")), &o.Object); err != nil {
			t.Error(err)
			return
		}
		why := fixture.Wait(t.Context(), 2*within, 100*time.Millisecond, func() string {
			got, err := objects.Get(t.Context(), o.GetName(), metav1.GetOptions{})
			if err != nil {
				return err.Error()
			}
			found := verdict(got)
			if found == "" {
				return fmt.Sprintf("Accepted is %q, Ready %q", said(got, "Accepted"), said(got, "Ready"))
			}
			tries.add(found)
			return ""
		})
		if why != "" {
			t.Errorf("%s: %s", names[i], why)
		}
		if err := objects.Delete(t.Context(), o.GetName(), metav1.DeleteOptions{}); err != nil {
			t.Errorf("%s: %v", names[i], err)
		}
	})
}

// TestExpressionsOfRules: the same in ReferenceRules.
func TestExpressionsOfRules(t *testing.T) {
	namespace := newNamespace(t, "rules")
	makeConfigMap(t, namespace, "one", nil, map[string]string{"a": "b"})
	apply(t, small(namespace, "all"))
	meanwhile(t, func(tries *tally) {
		explode(t, "", tries, repeatedBombs, func(name, bomb string) string {
			return fmt.Sprintf("apiVersion: graphview.dev/v1alpha1\nkind: ReferenceRule\nmetadata: {name: %s}\nspec: {from: {group: '', kind: ConfigMap}, references: [{expression: %s}]}\n",
				name, quoted("("+bomb+") ? [] : [{'group': '', 'kind': 'ConfigMap', 'name': 'one'}]"))
		}, func(o *unstructured.Unstructured) (verdict string) {
			words := strings.Fields(said(o, "Accepted"))
			return strings.Join(words[:min(2, len(words))], " ")
		})
		tries.measure(t)
	})
}

// TestExpressionsOfRequests: the same in the first messages of ad-hoc views.
func TestExpressionsOfRequests(t *testing.T) {
	c := client(t, "requester")
	meanwhile(t, func(tries *tally) {
		for what, bomb := range bombs() {
			conn, answer, err := dial(t.Context(), c, "/graph", "gitlab-agent-graph-api", nil)
			if err != nil {
				t.Fatalf("%s: %d: %v", what, answer, err)
			}
			if err := conn.Write(t.Context(), websocket.MessageText, []byte(request(map[string]any{"resource_selector_expression": bomb}))); err != nil {
				t.Fatal(err)
			}
			code, reason, err := outcome(t.Context(), conn)
			if err != nil {
				t.Errorf("%s: %v", what, err)
			}
			tries.add(strings.TrimSpace(fmt.Sprintf("%d %.20s", code, reason)))
			_ = conn.CloseNow()
		}
		tries.measure(t)
	})
}

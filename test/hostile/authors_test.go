package hostile

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"graphview.dev/test/oracle"
)

// view is a GraphView with a spec in YAML's flow style.
func view(namespace, name, spec string) string {
	return fmt.Sprintf("apiVersion: graphview.dev/v1alpha1\nkind: GraphView\nmetadata: {name: %s, namespace: %s}\nspec: %s\n---\n", name, namespace, spec)
}

// quoted is text for YAML's flow style.
func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// TestAuthors: what is beyond the bounds of a GraphView is refused when it is
// applied, or told by its condition.
func TestAuthors(t *testing.T) {
	namespace := newNamespace(t, "authors")
	selecting := func(field, text string) string {
		return fmt.Sprintf(`{queries: [{include: {resourceSelectorExpression: "resource == 'configmaps'", object: {%s: %s}}}]}`, field, quoted(text))
	}
	excluding := func(n int, letter string, letters int) string {
		query := fmt.Sprintf(`{exclude: {resourceSelectorExpression: %s}}`, quoted("'"+strings.Repeat(letter, letters)+"' == ''"))
		return "{queries: [" + strings.TrimSuffix(strings.Repeat(query+",", n), ",") + "]}"
	}
	list := func(n int, one string) string { return strings.TrimSuffix(strings.Repeat(one+",", n), ",") }
	numbered := func(n int) string {
		var names []string // different ones: the API server merges equal ones before it counts
		for i := range n {
			names = append(names, fmt.Sprint("n", i))
		}
		return strings.Join(names, ",")
	}
	meanwhile(t, func(tries *tally) {
		defer deleteViews(t, namespace)
		defer tries.measure(t)
		for name, test := range map[string]struct {
			spec string
			// wantRefused is in the API server's answer, wantReason in the condition
			// Accepted.
			wantRefused, wantReason string
		}{
			"65-queries":      {spec: `{queries: [` + list(65, `{exclude: {resourceSelectorExpression: "true"}}`) + `]}`, wantRefused: "64"},
			"no-queries":      {spec: `{queries: []}`, wantRefused: "queries"},
			"both":            {spec: `{queries: [{include: {resourceSelectorExpression: "true"}, exclude: {resourceSelectorExpression: "true"}}]}`, wantRefused: "include"},
			"1025-names":      {spec: `{queries: [{include: {resourceSelectorExpression: "true"}}], namespaces: {names: [` + numbered(1025) + `]}}`, wantRefused: "1024"},
			"65-roots":        {spec: `{queries: [{include: {resourceSelectorExpression: "true"}}], roots: {objectSelectorExpressions: [` + list(65, `"true"`) + `]}}`, wantRefused: "64"},
			"long-cel":        {spec: selecting("objectSelectorExpression", "'"+strings.Repeat("a", 11<<10)+"' == ''"), wantRefused: "10240"},
			"long-labels":     {spec: selecting("labelSelector", "a in ("+strings.Repeat("b,", 6000)+"c)"), wantRefused: "10240"},
			"long-path":       {spec: selecting("jsonPath", "{"+strings.Repeat(".a", 6000)+"}"), wantRefused: "10240"},
			"much-text":       {spec: excluding(8, "a", 9<<10), wantRefused: "65536"},
			"many-bytes":      {spec: excluding(6, "\U0001F578", 10_000), wantReason: "InvalidExpression"}, // the API server counts characters
			"nested":          {spec: selecting("objectSelectorExpression", strings.Repeat("[", 150)+strings.Repeat("]", 150)+" == []"), wantReason: "InvalidExpression"},
			"lists":           {spec: selecting("objectSelectorExpression", "["+list(3000, "[]")+"] == []"), wantReason: "InvalidExpression"},
			"doubling-macros": {spec: selecting("objectSelectorExpression", "optional.of(1)"+strings.Repeat(".optMap(x, x)", 30)+".hasValue()"), wantReason: "InvalidExpression"},
			"large-regex":     {spec: selecting("objectSelectorExpression", "name.matches('(((a{100}){100}){100})')"), wantReason: "InvalidExpression"},
			"bad-selector":    {spec: selecting("labelSelector", "a in ("), wantReason: "InvalidSelector"},
			"bad-path":        {spec: selecting("jsonPath", "{.a[?(@.b"), wantReason: "InvalidJSONPath"},
			"recursive-path":  {spec: selecting("jsonPath", "{..*}"), wantReason: "InvalidJSONPath"},
		} {
			err := tryApply(t.Context(), view(namespace, name, test.spec))
			if test.wantRefused != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantRefused) {
					t.Errorf("%s: %.500v, want %s", name, err, test.wantRefused)
				}
				tries.add("refused by the API server")
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			eventually(t, func() string {
				got := condition(t, namespace, name, "Accepted")
				if !strings.HasPrefix(got, "False "+test.wantReason+" ") {
					return fmt.Sprintf("%s: Accepted is %.300q", name, got)
				}
				return ""
			})
			tries.add(test.wantReason)
		}
	})
}

// TestGreedyAuthor: a view of everything, with the maximum number of expressions and nearly as
// much text as there may be, does not affect other users.
func TestGreedyAuthor(t *testing.T) {
	namespace := newNamespace(t, "greedy")
	fill(t, namespace, 100, 4<<10)
	long := "(" + strings.Repeat("name.contains('a') || labels.exists(k, k == 'b') || obj.metadata.name.matches('^c[0-9]+$') || ", 4) + "true)"
	var queries, roots []string
	for i := range 63 {
		queries = append(queries, fmt.Sprintf(`{include: {resourceSelectorExpression: %s, object: {objectSelectorExpression: %s, jsonPath: "{..name}{.metadata..labels}{.data}"}}}`,
			quoted(fmt.Sprintf("resource == 'none%d'", i)), quoted(long)))
		roots = append(roots, quoted(fmt.Sprintf("obj.metadata.name == 'none%d' || (%s) && false", i, long)))
	}
	queries = append(queries, fmt.Sprintf(`{include: {resourceSelectorExpression: "true", object: {objectSelectorExpression: %s}}}`, quoted(long)))
	roots = append(roots, `"true"`)
	names := []string{namespace}
	for i := range 1023 {
		names = append(names, fmt.Sprintf("absent-%d", i))
	}
	meanwhile(t, func(tries *tally) {
		apply(t, view(namespace, "everything", fmt.Sprintf(`{queries: [%s], namespaces: {names: [%s]}, roots: {objectSelectorExpressions: [%s], ignoreArcDirection: [or, r, t]}}`,
			strings.Join(queries, ", "), strings.Join(names, ", "), strings.Join(roots, ", "))))
		wantReady(t, namespace, "everything")
		change(t, namespace, "yes", 100)
		tries.add("granted")
		collect(t)
		tries.measure(t)
		deleteViews(t, namespace)
	})
}

// TestFlood: many GraphViews at once share what they watch.
func TestFlood(t *testing.T) {
	namespace := newNamespace(t, "flood")
	const views = 60
	meanwhile(t, func(tries *tally) {
		before := measure(t)
		var manifest strings.Builder
		for i := range views {
			manifest.WriteString(view(namespace, fmt.Sprintf("v%d", i), fmt.Sprintf(`{queries: [{include: {resourceSelectorExpression: "true", object: {objectSelectorExpression: "name != 'n%d'"}}}]}`, i)))
		}
		apply(t, manifest.String())
		wantReady(t, namespace)
		for range views {
			tries.add("granted")
		}
		collect(t)
		tries.measure(t)
		// A view is one goroutine of its own; watches are shared.
		if each := float64(tries.during.goroutines-before.goroutines-500) / views; each > 3 {
			t.Errorf("%.1f goroutines for each of %d views, beside 500 for what they all watch", each, views)
		}
		t.Logf("%d KiB of heap for each of %d views", (tries.during.heap-before.heap)/views>>10, views)
		deleteViews(t, namespace)
	})
}

// TestExpensiveExpressions: what costs too much is given up, object by object,
// with a warning; other views do not wait for it.
func TestExpensiveExpressions(t *testing.T) {
	namespace := newNamespace(t, "expensive")
	large := map[string]string{}
	for i := range 2000 {
		large[fmt.Sprintf("key-%d", i)] = strings.Repeat("a", 100)
	}
	const objects = 4
	for i := range objects {
		makeConfigMap(t, namespace, fmt.Sprintf("large%d", i), nil, large)
	}
	filters := map[string]string{
		"loops":    `objectSelectorExpression: "obj.data.all(a, obj.data.all(b, obj.data.all(c, a + b + c != '')))"`,
		"regex":    `objectSelectorExpression: "obj.data.all(a, obj.data.all(b, obj.data[b].matches('(a+)+$') && a.matches('(k|key|e|y|-|[0-9])*')))"`,
		"text":     `objectSelectorExpression: "obj.data.map(a, obj.data.map(b, obj.data[a] + obj.data[b])).size() == 0"`,
		"sort":     `objectSelectorExpression: "obj.data.map(a, obj.data.map(b, b).sort().join(a).size()).size() == 0"`,
		"rootless": `jsonPath: "{.data}", objectSelectorExpression: "lists.range(10000).all(a, lists.range(10000).all(b, a + b >= 0))"`,
	}
	meanwhile(t, func(tries *tally) {
		for name, filter := range filters {
			apply(t, view(namespace, name, fmt.Sprintf(`{queries: [{include: {resourceSelectorExpression: "group == '' && resource == 'configmaps'", object: {%s}}}], namespaces: {names: [%s]}}`, filter, namespace)))
		}
		for name := range filters {
			wantReady(t, namespace, name)
			eventually(t, func() string {
				got := status(t, namespace, name)
				if text := fmt.Sprintf("%v/%v", got["vertices"], got["warnings"]); !strings.HasPrefix(text, "0/") || !strings.Contains(text, "expression failed") {
					return name + ": " + text
				}
				return ""
			})
			for range objects {
				tries.add("given up for its cost")
			}
		}
		tries.measure(t)
		deleteViews(t, namespace)
	})
}

// TestFieldSelectors: a field selector that the API server refuses affects only its resource.
func TestFieldSelectors(t *testing.T) {
	namespace := newNamespace(t, "fields")
	makeConfigMap(t, namespace, "one", nil, nil)
	meanwhile(t, func(tries *tally) {
		defer deleteViews(t, namespace)
		defer tries.measure(t)
		for i, selector := range []string{"spec.nonsense=1", "metadata.labels=a", "status.phase=Running", "metadata.name=a,metadata.name!=a,x=y", "a=b\\\\,c", "a b c"} {
			name := fmt.Sprintf("f%d", i)
			apply(t, view(namespace, name, fmt.Sprintf(`{queries: [{include: {resourceSelectorExpression: "resource == 'configmaps'", object: {fieldSelector: %s}}}, {include: {resourceSelectorExpression: "resource == 'secrets'"}}], namespaces: {names: [%s]}}`,
				quoted(selector), namespace)))
			eventually(t, func() string {
				accepted, complete, ready := condition(t, namespace, name, "Accepted"), condition(t, namespace, name, "Complete"), condition(t, namespace, name, "Ready")
				switch {
				case strings.HasPrefix(accepted, "False InvalidSelector"):
					tries.add("refused as invalid")
				case strings.HasPrefix(ready, "True") && strings.HasPrefix(complete, "False") && strings.Contains(complete, "configmaps"):
					tries.add("incomplete for one resource")
				default:
					return fmt.Sprintf("%s: %s; %s; %s", selector, accepted, complete, ready)
				}
				return ""
			})
		}
	})
}

// TestLabelValues: selectors of every kind over labels of every kind select
// what the API server does.
func TestLabelValues(t *testing.T) {
	namespace := newNamespace(t, "labels")
	for i, value := range []string{
		"", "a", "A", "0", "-1"[1:], "a.b", "a_b", "a-b", "1e3", "0x10", "007", "9223372036854775807", "9223372036854775808", "true", "null", "in", "notin",
		strings.Repeat("v", 63), "1.5", "a" + strings.Repeat(".", 61) + "b",
	} {
		makeConfigMap(t, namespace, fmt.Sprintf("l%d", i), map[string]string{"key": value, "example.com/" + strings.Repeat("k", 63): value}, nil)
	}
	makeConfigMap(t, namespace, "none", nil, nil)
	selectors := []string{
		"key", "!key", "key=", "key!=", "key=a", "key==a", "key!=a", "key in (a,A,)", "key in ()", "key notin (a, a.b)", "key in (in, notin)", "key>5", "key<5", "key>9223372036854775806",
		"key=true,key!=false", "example.com/" + strings.Repeat("k", 63) + "=" + strings.Repeat("v", 63), "key in (" + strings.Repeat("x,", 1000) + "0)", "key=a_b", " key = a ", "key,!absent",
	}
	meanwhile(t, func(tries *tally) {
		defer deleteViews(t, namespace)
		defer tries.measure(t)
		c := client(t, "reader")
		for i, selector := range selectors {
			name := fmt.Sprintf("s%d", i)
			manifest := view(namespace, name, fmt.Sprintf(`{queries: [{include: {resourceSelectorExpression: "resource == 'configmaps'", object: {labelSelector: %s}}}], namespaces: {names: [%s]}}`, quoted(selector), namespace))
			apply(t, manifest)
			eventually(t, func() string {
				if condition(t, namespace, name, "Accepted") == "" {
					return selector + " is not judged"
				}
				return ""
			})
			if accepted := condition(t, namespace, name, "Accepted"); strings.HasPrefix(accepted, "False InvalidSelector") {
				// So does kubectl say.
				if _, err := cluster.Kubectl(t.Context(), "get", "configmaps", "-n", namespace, "-l", selector); err == nil {
					t.Errorf("%s is refused: %s", selector, accepted)
				}
				tries.add("refused as invalid")
				continue
			}
			wantReady(t, namespace, name)
			parsed, err := oracle.ParseView([]byte(strings.TrimSuffix(manifest, "---\n")))
			if err != nil {
				t.Fatal(err)
			}
			want, err := oracle.Build(t.Context(), cluster.Config(), parsed)
			if err != nil {
				t.Fatal(err)
			}
			code, body := get(t, c, manager.URL()+strings.Replace(watchPath(namespace, name), "/watch", "", 1))
			got := oracle.Client{Strict: true}
			if err := got.Apply([]byte(body)); err != nil || code != 200 {
				t.Fatalf("%s: %d %.300s %v", selector, code, body, err)
			}
			if diff := oracle.Compare(want, got.Graph()); diff != "" {
				t.Errorf("%s (-oracle +operator):\n%s", selector, diff)
			}
			tries.add("the same")
		}
		if n := tries.count("the same"); n < 15 {
			t.Errorf("only %d of %v were accepted", n, slices.Sorted(maps.Keys(tries.counts)))
		}
	})
}

package expr

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/jsontree"
)

// deployments is a resource.
var deployments = Resource{Group: "apps", Version: "v1", Resource: "deployments", Kind: "Deployment", Namespaced: true}

func TestResourceSelector(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		want bool
	}{
		"group":         {"group in ['', 'apps', 'batch']", true},
		"other group":   {"group == 'batch'", false},
		"all variables": {"group == 'apps' && version == 'v1' && resource == 'deployments' && namespaced", true},
		"everything":    {"true", true},
		"loop":          {"['apps', 'x'].exists(g, group == g)", true},
		"regex":         {"version.matches('^v[0-9]+$')", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := CompileResource(t.Context(), nil, tc.text)
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := s.Matches(t.Context(), deployments)
			if err != nil || got != tc.want {
				t.Errorf("Matches() = %v, %v, want %v", got, err, tc.want)
			}
		})
	}
}

func TestResourceSelectorError(t *testing.T) {
	t.Parallel()
	s, err := CompileResource(t.Context(), nil, "{'apps': true}[group]")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Matches(t.Context(), Resource{Group: "batch", Version: "v1", Resource: "jobs", Kind: "Job", Namespaced: true}); err == nil || err.Error() != "no such key (line 1, column 15 of the expression)" {
		t.Errorf("Matches() error = %v", err)
	}
}

// secret is what no error may contain.
const secret = "hunter2"

func deployment() map[string]any {
	return map[string]any{
		"metadata": map[string]any{
			"name":        "web",
			"labels":      map[string]any{"app": "web", "owner": secret},
			"annotations": map[string]any{"note": "1Gi"},
		},
		"spec": map[string]any{
			"replicas": int64(3),
			"paused":   true,
			"ratio":    1.5,
			"text":     secret,
			"nothing":  nil,
			"empty":    map[string]any{},
			"items":    []any{"a", "b"},
			"large":    strings.Repeat("a", 1<<20),
			"many":     make([]any, 10_000),
		},
	}
}

func input() *Input {
	return &Input{
		Group: "apps", Version: "v1", Resource: "deployments", Namespace: "shop", Name: "web",
		Object: func() (map[string]any, error) { return deployment(), nil },
	}
}

func TestObjectSelector(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text         string
		want         bool
		wantObject   bool
		wantMetadata bool
	}{
		"identity":         {text: "group == 'apps' && version == 'v1' && resource == 'deployments' && namespace == 'shop' && name == 'web'", want: true},
		"label":            {text: "!('legacy' in labels)", want: true, wantMetadata: true},
		"label value":      {text: "labels.app == 'web' && labels['app'].startsWith('w')", want: true, wantMetadata: true},
		"labels' keys":     {text: "labels.exists(k, k == 'app')", want: true, wantMetadata: true},
		"annotation":       {text: "quantity(annotations.note).isGreaterThan(quantity('1Mi'))", want: true, wantMetadata: true},
		"object":           {text: "obj.spec.replicas > 2 && obj.spec.ratio == 1.5", want: true, wantObject: true},
		"both":             {text: "obj.metadata.labels == labels", want: true, wantObject: true, wantMetadata: true},
		"dyn":              {text: "obj.spec.paused", want: true, wantObject: true},
		"presence":         {text: "has(obj.spec.nope)", want: false, wantObject: true},
		"optional":         {text: "obj.?status.?ready.orValue('no') == 'no'", want: true, wantObject: true},
		"null":             {text: "obj.spec.nothing == null", want: true, wantObject: true},
		"shadowed":         {text: "['x'].all(name, name == 'x') && name == 'web'", want: true},
		"inequality":       {text: "['a', 'b'].all(x, [x] != ['c'])", want: true},
		"equality":         {text: "['a', 'b'].exists(x, [x] == ['b'])", want: true},
		"membership":       {text: "[['a'], ['b']].exists(l, obj.spec.items[1] in l)", want: true, wantObject: true},
		"regex":            {text: "name.matches('^w.b$')", want: true},
		"computed regex":   {text: "name.matches('^' + labels.app + '$')", want: true, wantMetadata: true},
		"find":             {text: "obj.spec.text.find('[0-9]+') == '2' && obj.spec.text.find(name) == ''", want: true, wantObject: true},
		"findAll":          {text: "'a1b2'.findAll('[0-9]').size() == 2 && 'a1b2'.findAll('[0-9]', 1) == ['1']", want: true},
		"computed findAll": {text: "'a1b2'.findAll('[' + '0-9]').size() == 2 && 'a1b2'.findAll('[' + '0-9]', 1) == ['1']", want: true},
		"replace":          {text: "name.replace('w', 'v') == 'veb' && name.replace('e', 'ee', 1) == 'weeb'", want: true},
		"join":             {text: "obj.spec.items.join('-') == 'a-b' && ['a', 'b'].join() == 'ab'", want: true, wantObject: true},
		"format":           {text: "'%s/%d'.format([name, obj.spec.replicas]) == 'web/3'", want: true, wantObject: true},
		"indexOf":          {text: "name.indexOf('b') == 2 && [1, 2].indexOf(2) == 1 && name.lastIndexOf('b', 2) == 2", want: true},
		"sets":             {text: "sets.contains(obj.spec.items, ['a'])", want: true, wantObject: true},
		"distinct":         {text: "[name, name].distinct().size() == 1", want: true},
		"short-circuit":    {text: "resource == 'pods' && obj.spec.nope == 1", want: false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := CompileObject(t.Context(), nil, tc.text)
			if err != nil {
				t.Fatal(err)
			}
			in := input()
			calls, parts := 0, 0
			in.Object = func() (map[string]any, error) { calls++; return deployment(), nil }
			got, err := s.Matches(t.Context(), in)
			if err != nil || got != tc.want {
				t.Errorf("Matches() = %v, %v, want %v", got, err, tc.want)
			}
			if calls > 1 || calls == 1 && !tc.wantObject && !tc.wantMetadata {
				t.Errorf("Object was called %d times", calls)
			}
			calls = 0
			in.Part = func(shape *jsontree.Shape) (map[string]any, error) {
				parts++
				return inParts(t, deployment()).Part(shape)
			}
			if again, err := s.Matches(t.Context(), in); err != nil || again != tc.want {
				t.Errorf("Matches() with parts = %v, %v, want %v", again, err, tc.want)
			}
			if calls > 1 || calls == 1 && !tc.wantObject || parts > 1 || parts == 1 && !tc.wantMetadata {
				t.Errorf("with parts, Object was called %d times and Part %d times", calls, parts)
			}
			if in.Cost == 0 {
				t.Error("Cost is 0")
			}
		})
	}
}

// TestObjectSelectorUnreadable: an object that cannot be read fails the expressions that
// read it, and no other on the same input.
func TestObjectSelectorUnreadable(t *testing.T) {
	t.Parallel()
	unreadable := errors.New("cannot be read")
	in := input()
	in.Object = func() (map[string]any, error) { return nil, unreadable }
	for _, tc := range []struct {
		text string
		want error
	}{{"obj == {}", unreadable}, {"name == 'web'", nil}, {"labels.size() == 0", unreadable}, {"name == 'web'", nil}} {
		s, err := CompileObject(t.Context(), nil, tc.text)
		if err != nil {
			t.Fatal(err)
		}
		if matches, err := s.Matches(t.Context(), in); !errors.Is(err, tc.want) || matches != (tc.want == nil) {
			t.Errorf("%s: %t, %v, want %v", tc.text, matches, err, tc.want)
		}
	}
}

func TestObjectSelectorWithoutObject(t *testing.T) {
	t.Parallel()
	s, err := CompileObject(t.Context(), nil, "labels.size() == 0 && annotations.size() == 0 && obj == {}")
	if err != nil {
		t.Fatal(err)
	}
	for name, object := range map[string]func() (map[string]any, error){
		"none":        nil,
		"nil":         func() (map[string]any, error) { return nil, nil },
		"no metadata": func() (map[string]any, error) { return map[string]any{}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, err := s.Matches(t.Context(), &Input{Object: object}); err != nil || !got {
				t.Errorf("Matches() = %v, %v", got, err)
			}
		})
	}
}

func TestEvaluationErrors(t *testing.T) {
	t.Parallel()
	double := strings.Repeat(".map(a, dyn([a, a]))", 40)
	for name, tc := range map[string]struct {
		text string
		want string
	}{
		"no such field":     {"obj.spec.nope", "no such key: nope (line 1, column 9 of the expression)"},
		"field of scalar":   {"obj.spec.replicas.foo.bar", "no such key: foo (line 1, column 22 of the expression)"},
		"no such label":     {"labels['nope'].startsWith('a')", "no such key: nope (line 1, column 7 of the expression)"},
		"computed key":      {"obj.spec.empty[obj.spec.text] == 1", "no such key (line 1, column 15 of the expression)"},
		"not bool":          {"obj.spec.text", "expression must evaluate to bool, and was string for this object"},
		"null":              {"obj.spec.nothing", "expression must evaluate to bool, and was null_type for this object"},
		"types":             {"obj.spec.text > 3", "no such overload: a function or operator got a value of another type than it takes (line 1, column 15 of the expression)"},
		"int":               {"int(obj.spec.text) == 1", "conversion error (line 1, column 4 of the expression)"},
		"timestamp":         {"timestamp(obj.spec.text) > timestamp('2020-01-01T00:00:00Z')", "timestamp() failed on this object (line 1, column 10 of the expression)"},
		"quantity":          {"quantity(obj.spec.text).asInteger() == 1", "quantity() failed on this object (line 1, column 9 of the expression)"},
		"semver":            {"semver(obj.spec.text).major() == 1", "semver() failed on this object (line 1, column 7 of the expression)"},
		"ip":                {"ip(obj.spec.text).family() == 4", "ip() failed on this object (line 1, column 3 of the expression)"},
		"url":               {"url(obj.spec.text).getHost() == ''", "url() failed on this object (line 1, column 4 of the expression)"},
		"regex":             {"name.matches(obj.spec.text + '(')", "matches() failed on this object (line 1, column 13 of the expression)"},
		"format":            {"'%d'.format([obj.spec.text]) == ''", "format() failed on this object (line 1, column 12 of the expression)"},
		"division":          {"1 / (obj.spec.replicas - 3) == 1", "division by zero (line 1, column 3 of the expression)"},
		"index":             {"obj.spec.items[obj.spec.replicas] == 'a'", "index out of bounds (line 1, column 15 of the expression)"},
		"optional":          {"obj.?spec.nope.value() == 1", "optional.none() dereference (line 1, column 21 of the expression)"},
		"range":             {"lists.range(obj.spec.replicas * 100000).size() == 0", "lists.range() failed on this object (line 1, column 12 of the expression)"},
		"precision":         {"('%.' + string(obj.spec.replicas * 1000000000) + 'f').format([1.0]) == ''", "format() failed on this object (line 1, column 61 of the expression)"},
		"cost":              {"lists.range(1000).all(x, lists.range(1000).all(y, x + y >= 0))", "cost limit exceeded: the expression took more than 1000000 units on this object"},
		"cost of text":      {"lists.range(10000).all(x, obj.spec.large.contains('b') || true)", "cost limit exceeded: the expression took more than 1000000 units on this object"},
		"replace":           {"obj.spec.large.replace('a', obj.spec.large) == ''", "replace() would make a string longer than 4194304 bytes (line 1, column 23 of the expression)"},
		"join":              {"lists.range(100).map(i, obj.spec.large).join() == ''", "join() would make a string longer than 4194304 bytes (line 1, column 45 of the expression)"},
		"formatted list":    {"'%s'.format([[obj.spec.large].map(s, [s, s, s, s, s])]) == ''", "format() would make a string longer than 4194304 bytes (line 1, column 12 of the expression)"},
		"indexOf":           {"obj.spec.large.indexOf(obj.spec.large + 'b') == 0", "the arguments are too large to search one in the other (line 1, column 23 of the expression)"},
		"distinct":          {"obj.spec.many.distinct().size() == 1", "cost limit exceeded: the expression took more than 1000000 units on this object"},
		"sets":              {"sets.contains(obj.spec.many, obj.spec.many)", "cost limit exceeded: the expression took more than 1000000 units on this object"},
		"regex over text":   {"obj.spec.large.matches('(a|b|c){1000}d')", "the text is too long for this regular expression"},
		"find over text":    {"obj.spec.large.find('(a|b|c){1000}d') == ''", "the text is too long for this regular expression"},
		"large regex":       {"name.matches('" + strings.Repeat("(a{700})", 5) + "' + '" + strings.Repeat("(a{700})", 5) + "')", "regular expressions are too large: with their repetitions written out they have more than 5000 parts (line 1, column 13 of the expression)"},
		"shared equality":   {"[[1]]" + double + ".all(z, z == z)", "the values have too many parts to compare; at most 250000 are allowed (line 1, column 816 of the expression)"},
		"shared inequality": {"[[1]]" + double + ".all(z, z != z)", "the values have too many parts to compare; at most 250000 are allowed (line 1, column 816 of the expression)"},
		"shared membership": {"[[1]]" + double + ".all(z, z in [z])", "the values have too many parts to compare; at most 250000 are allowed (line 1, column 816 of the expression)"},
		"doubled list":      {"[[1]]" + strings.Repeat(".map(a, a + a)", 40) + ".all(z, z.size() > 0)", "cost limit exceeded: the expression took more than 1000000 units on this object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := CompileObject(t.Context(), nil, tc.text)
			if err != nil {
				t.Fatal(err)
			}
			in := input()
			match, err := s.Matches(t.Context(), in)
			if match || err == nil {
				t.Fatalf("Matches() = %v, %v, want an error", match, err)
			}
			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if failed := (*EvaluationError)(nil); !errors.As(err, &failed) {
				t.Errorf("error is a %T", err)
			}
			if in.Cost == 0 || in.Cost > CostLimit {
				t.Errorf("Cost = %d", in.Cost)
			}
		})
	}
}

func TestCancellation(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"loop":    "lists.range(9999).all(x, lists.range(9999).exists(y, obj.spec.replicas == y + 4))",
		"no loop": "obj.spec.replicas == 3",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := CompileObject(t.Context(), nil, text)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			in := input()
			// Cancelled before, and, in a loop, while the evaluation goes on.
			if name == "loop" {
				in.Object = func() (map[string]any, error) { cancel(); return deployment(), nil }
			} else {
				cancel()
			}
			if _, err := s.Matches(ctx, in); !errors.Is(err, context.Canceled) {
				t.Errorf("Matches() error = %v, want one that is context.Canceled", err)
			}
		})
	}
}

// Programs are shared, and so are the parts of CEL beneath them.
func TestConcurrency(t *testing.T) {
	t.Parallel()
	var selectors []*ObjectSelector
	for _, text := range []string{
		"obj.spec.replicas == 3 && labels.app == 'web'",
		"obj.spec.items.exists(i, i == 'b') && name.matches('^w') && name.find('w' + '') == 'w'",
		"obj.spec.text > 3",
		"obj.spec.nope == 1",
		"[[name]].all(l, l == [name]) && '%s'.format([name]) == 'web'",
	} {
		s, err := CompileObject(t.Context(), nil, text)
		if err != nil {
			t.Fatal(err)
		}
		selectors = append(selectors, s)
	}
	path, err := ParseJSONPath("{range .spec.items[*]}{@}{end}{.spec.items[?(@=='a')]}")
	if err != nil {
		t.Fatal(err)
	}
	object := deployment()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				in := input()
				in.Object = func() (map[string]any, error) { return object, nil }
				for i, s := range selectors {
					match, err := s.Matches(t.Context(), in)
					if wantErr := i == 2 || i == 3; match == wantErr || (err != nil) != wantErr {
						t.Errorf("selector %d: %v, %v", i, match, err)
					}
				}
				if found, err := path.Find(t.Context(), in); err != nil || string(found) != `["a","b","a"]` {
					t.Errorf("Find() = %s, %v", found, err)
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkMatches(b *testing.B) {
	object := deployment()
	for name, text := range map[string]string{
		"identity": "resource == 'deployments' && name == 'web'",
		"label":    "!('legacy' in labels)",
		"object":   "obj.spec.replicas > 2 && obj.spec.paused",
		"loop":     "obj.spec.items.exists(i, i == 'b')",
		"regex":    "name.matches('^w[a-z]+$')",
	} {
		b.Run(name, func(b *testing.B) {
			s, err := CompileObject(b.Context(), nil, text)
			if err != nil {
				b.Fatal(err)
			}
			in := input()
			in.Object = func() (map[string]any, error) { return object, nil }
			b.ReportAllocs()
			for b.Loop() {
				if match, err := s.Matches(b.Context(), in); !match || err != nil {
					b.Fatal(match, err)
				}
			}
		})
	}
}

func BenchmarkCompileObject(b *testing.B) {
	for b.Loop() {
		if _, err := CompileObject(b.Context(), nil, "resource == 'deployments' && name == 'web' && 'app' in labels"); err != nil {
			b.Fatal(err)
		}
	}
}

package expr

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCompileResourceErrors(t *testing.T) {
	checkErrors(t, map[string]invalid{
		"empty": {
			text: "",
			want: `expression is empty; it must evaluate to true or false`,
		},
		"unknown variable": {
			text: "grup == 'apps'",
			want: `line 1, column 1: unknown name or function 'grup'; the variables are group, version, resource, kind and namespaced: "grup == 'apps'"`,
		},
		"unknown variable on another line": {
			text: "group ==\n  nope",
			want: `line 2, column 3: unknown name or function 'nope'; the variables are group, version, resource, kind and namespaced: "group ==\n  nope"`,
		},
		"variable of objects": {
			text: "obj.kind == 'Pod'",
			want: `line 1, column 1: unknown name or function 'obj'; the variables are group, version, resource, kind and namespaced: "obj.kind == 'Pod'"`,
		},
		"namespace": {
			text: "namespace == 'a'",
			want: `line 1, column 1: unknown name or function 'namespace'; the variables are group, version, resource, kind and namespaced: "namespace == 'a'"`,
		},
		"no authorizer": {
			text: "authorizer.path('/').check('get').allowed()",
			want: `line 1, column 1: unknown name or function 'authorizer'; the variables are group, version, resource, kind and namespaced (and 3 more errors): "authorizer.path('/').check('get').allowed()"`,
		},
		"assignment": {
			text: "group = 'apps'",
			want: `line 1, column 7: syntax error: unexpected '= '; == compares (and 1 more error): "group = 'apps'"`,
		},
		"unclosed": {
			text: "group in ['','apps'",
			want: `line 1, column 20: syntax error: the expression ends too early: "group in ['','apps'"`,
		},
		"two expressions": {
			text: "group == 'a' b",
			want: `line 1, column 14: syntax error: unexpected 'b': "group == 'a' b"`,
		},
		"types": {
			text: "group == 1",
			want: `line 1, column 7: operator == cannot be applied to (string, int): "group == 1"`,
		},
		"index": {
			text: "group[0] == 'a'",
			want: `line 1, column 6: operator [] cannot be applied to (string, int): "group[0] == 'a'"`,
		},
		"arguments": {
			text: "group.startsWith(version, resource)",
			want: `line 1, column 17: startsWith() cannot be applied to string.(string, string): "group.startsWith(version, resource)"`,
		},
		"string": {
			text: "group",
			want: `expression must evaluate to bool, not string: "group"`,
		},
		"list": {
			text: "[group]",
			want: `expression must evaluate to bool, not list(string): "[group]"`,
		},
		"regular expression": {
			text: "group.matches('(')",
			want: `line 1, column 15: invalid regular expression; the syntax is RE2, with at most 1000 repetitions: "group.matches('(')"`,
		},
		"regular expression of find": {
			text: "group.find('(') == ''",
			want: "error parsing regexp: missing closing ): `(`: \"group.find('(') == ''\"",
		},
		"duration": {
			text: "duration('zz') == duration('1h')",
			want: `line 1, column 10: invalid duration; expected one such as '1h30m': "duration('zz') == duration('1h')"`,
		},
		"text in quotes of both kinds": {
			text: `group == "'`,
			want: "line 1, column 10: syntax error: unexpected '\"'' (and 1 more error): `group == \"'`",
		},
		"text that is cut": {
			text: "'" + strings.Repeat("ä", 300) + "'",
			want: `expression must evaluate to bool, not string: "'` + strings.Repeat("ä", 199) + `…"`,
		},
		"unprintable": {
			text: "group == \x1b[31m",
			want: `line 1, column 10: syntax error: unexpected ' ' (and 1 more error): "group == \x1b[31m"`,
		},
	}, func(text string) error {
		_, err := CompileResource(t.Context(), nil, text)
		return err
	})
}

func TestCompileReasonable(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"conjunction": strings.Repeat("has(obj.spec.replicas) && ", 300) + "true",
		"long list":   "name in ['a'" + strings.Repeat(", 'a'", 1000) + "]",
		"optMap":      "obj.?spec.?paused.optMap(p, p == true).orValue(false)",
		"two optMaps": "obj.?a.optMap(p, p.b).optMap(p, p.c).orValue(false) == true",
		"libraries": `quantity('1Gi').isGreaterThan(quantity('1Mi')) && isIP('10.0.0.1') && cidr('10.0.0.0/8').containsIP('10.0.0.1')
			&& semver('1.2.3').major() == 1 && isURL('https://a') && 'abc'.find('b') == 'b' && [3, 1].max() == 3 && 'A'.lowerAscii() == 'a'
			&& sets.contains([1, 2], [1]) && !format.dns1123Label().validate('a').hasValue() && '%s'.format(['a']) == 'a'
			&& [2, 1].sort() == [1, 2] && {'a': 1}.all(k, v, v == 1) && obj.?spec.orValue({}) == {} && 1 < 1.5`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := CompileObject(t.Context(), nil, text); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestErrorAt(t *testing.T) {
	t.Parallel()
	_, err := CompileObject(t.Context(), nil, "foo")
	var invalid *Error
	if !errors.As(err, &invalid) {
		t.Fatalf("error is a %T", err)
	}
	want := &Error{
		Reason: InvalidExpression, Path: "spec.roots.objectSelectorExpressions[1]", Text: "foo", Line: 1, Column: 1,
		Message: "unknown name or function 'foo'; the variables are obj, group, version, resource, kind, namespace, name, labels and annotations",
	}
	got := invalid.At("spec.roots.objectSelectorExpressions[1]")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if invalid.Path != "" {
		t.Error("At changed its receiver")
	}
	const line = `spec.roots.objectSelectorExpressions[1]: line 1, column 1: unknown name or function 'foo'; the variables are obj, group, version, resource, kind, namespace, name, labels and annotations: "foo"`
	if diff := cmp.Diff(line, got.Error()); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
}

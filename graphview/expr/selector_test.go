package expr

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

func TestParseLabelSelector(t *testing.T) {
	t.Parallel()
	set := labels.Set{"app": "web", "env": "a", "weight": "5"}
	for name, tc := range map[string]struct {
		text string
		want bool
	}{
		"empty":     {"", true},
		"space":     {" ", true},
		"equal":     {"app=web,env==a", true},
		"not equal": {"app!=web", false},
		"set":       {"env in (a, b), app notin (db)", true},
		"exists":    {"app,!legacy", true},
		"greater":   {"weight>4", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := ParseLabelSelector(tc.text)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Matches(set); got != tc.want {
				t.Errorf("Matches() = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestParseLabelSelectorErrors(t *testing.T) {
	const expected = "; expected requirements such as app=web, tier!=cache, env in (a, b), gpu or !legacy, joined by commas: "
	checkErrors(t, map[string]invalid{
		"two words":   {"a b", `line 1, column 3: invalid label selector: found 'b', expected: in, notin, =, ==, !=, gt, lt` + expected + `"a b"`},
		"no set":      {"a in", `invalid label selector: found the end expected: '('` + expected + `"a in"`},
		"open set":    {"a in (b", `invalid label selector: found the end, expected: ',' or ')'` + expected + `"a in (b"`},
		"no key":      {"=x", `line 1, column 1: invalid label selector: found '=', expected: !, identifier, or 'end of string'` + expected + `"=x"`},
		"last comma":  {"a=b,", `invalid label selector: found the end, expected: identifier after ','` + expected + `"a=b,"`},
		"value":       {"a=@", `line 1, column 3: invalid label selector: values[0][a]: Invalid value: "@": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345')` + expected + `"a=@"`},
		"key":         {"-a", `line 1, column 1: invalid label selector: Invalid value: "-a": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc')` + expected + `"-a"`},
		"too long":    {strings.Repeat("a", MaxTextLength) + "=b", "label selector of 10242 bytes is too long; at most 10240 are allowed: …"},
		"not a field": {"a==b=c", `invalid label selector: found '=', expected: ',' or 'end of string'` + expected + `"a==b=c"`},
	}, func(text string) error {
		_, err := ParseLabelSelector(text)
		return err
	})
}

func TestParseFieldSelector(t *testing.T) {
	t.Parallel()
	s, err := ParseFieldSelector("metadata.name=web,status.phase!=Failed,spec.nodeName==n")
	if err != nil {
		t.Fatal(err)
	}
	if !s.Matches(fields.Set{"metadata.name": "web", "spec.nodeName": "n"}) || s.Matches(fields.Set{}) {
		t.Errorf("selector %s does not match what it should", s)
	}
	if s, err = ParseFieldSelector(""); err != nil || !s.Empty() {
		t.Errorf("empty text: %v, %v", s, err)
	}
}

func TestParseFieldSelectorErrors(t *testing.T) {
	const expected = "; expected field=value, field==value or field!=value, joined by commas: "
	checkErrors(t, map[string]invalid{
		"no operator": {"a=b,c", `line 1, column 5: invalid field selector: cannot understand 'c'` + expected + `"a=b,c"`},
		"set":         {"a in (b)", `line 1, column 1: invalid field selector: cannot understand 'a in (b)'` + expected + `"a in (b)"`},
		"no field":    {"=x", `field selector has no field before an operator` + expected + `"=x"`},
		"too long":    {strings.Repeat("a", MaxTextLength) + "=b", "field selector of 10242 bytes is too long; at most 10240 are allowed: …"},
		"escape":      {`a=\x`, `invalid field selector: invalid escape sequence: \x` + expected + `"a=\\x"`},
	}, func(text string) error {
		_, err := ParseFieldSelector(text)
		return err
	})
}

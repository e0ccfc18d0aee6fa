package refs

import (
	"testing"

	"sigs.k8s.io/yaml"
)

func TestLabelSelector(t *testing.T) {
	const none = "none"
	for name, test := range map[string]struct {
		text string
		want string
	}{
		"Empty":                 {text: `{}`, want: ""},
		"Labels":                {text: `{matchLabels: {b: "2", a: "1", c: ""}}`, want: "a=1,b=2,c="},
		"NullMembers":           {text: `{matchLabels: null, matchExpressions: null}`, want: ""},
		"Expressions":           {text: `{matchExpressions: [{key: a, operator: NotIn, values: [v, w]}, {key: b, operator: Exists, values: []}]}`, want: "a!=v|w,b"},
		"Both":                  {text: `{matchLabels: {a: "1"}, matchExpressions: [{key: b, operator: DoesNotExist}]}`, want: "a=1,!b"},
		"UnknownMemberIgnored":  {text: `{app: web}`, want: ""},
		"Null":                  {text: `null`, want: none},
		"Text":                  {text: `app=web`, want: none},
		"LabelsAreList":         {text: `{matchLabels: [a]}`, want: none},
		"LabelIsNumber":         {text: `{matchLabels: {a: "1", b: 2}}`, want: none},
		"EmptyLabelKey":         {text: `{matchLabels: {"": x}}`, want: none},
		"ExpressionsAreMap":     {text: `{matchExpressions: {key: a}}`, want: none},
		"ExpressionIsText":      {text: `{matchLabels: {a: "1"}, matchExpressions: [a]}`, want: none},
		"ExpressionWithoutKey":  {text: `{matchExpressions: [{operator: Exists}]}`, want: none},
		"UnknownOperator":       {text: `{matchExpressions: [{key: a, operator: Gt, values: ["1"]}]}`, want: none},
		"InWithoutValues":       {text: `{matchExpressions: [{key: a, operator: In}]}`, want: none},
		"ExistsWithValues":      {text: `{matchExpressions: [{key: a, operator: Exists, values: [x]}]}`, want: none},
		"ValuesAreText":         {text: `{matchExpressions: [{key: a, operator: Exists, values: x}]}`, want: none},
		"ValueIsNumber":         {text: `{matchExpressions: [{key: a, operator: In, values: [x, 1]}]}`, want: none},
		"OneBadExpressionOfTwo": {text: `{matchExpressions: [{key: a, operator: Exists}, {key: b, operator: in, values: [x]}]}`, want: none},
	} {
		t.Run(name, func(t *testing.T) {
			var value any
			if err := yaml.Unmarshal([]byte(test.text), &value); err != nil {
				t.Fatal(err)
			}
			got := none
			if selector := labelSelector(value); selector != nil {
				got = renderSelector(selector)
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

package intake

import (
	"errors"
	"strings"
	"testing"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
	"graphview.dev/test/configmaps"
)

// TestJudge: what a view decides about one object.
func TestJudge(t *testing.T) {
	e := start(t, configmaps.ServeItems(t, []string{
		`{"metadata":{"namespace":"shop","name":"c","uid":"u","resourceVersion":"1","labels":{"app":"web"}},"data":{"size":"3"}}`,
	}, nil))
	f := e.feed("")
	f.awaitList(t)
	roots := func(expressions ...v1alpha1.Expression) *v1alpha1.Roots {
		return &v1alpha1.Roots{ObjectSelectorExpressions: expressions}
	}
	for name, test := range map[string]struct {
		object        v1alpha1.ObjectFilter
		roots         *v1alpha1.Roots
		namespaces    map[string]bool
		waits         bool
		wantMember    bool
		wantRoot      bool
		wantUndecided bool
		wantPart      string
		wantErr       string
		wantPartial   bool // the error leaves it a member
		wantFree      bool // no expression is evaluated
	}{
		"nothing asked":                   {wantMember: true, wantFree: true},
		"a label that it has":             {object: v1alpha1.ObjectFilter{LabelSelector: "app=web"}, wantMember: true, wantFree: true},
		"a label that it does not have":   {object: v1alpha1.ObjectFilter{LabelSelector: "app=db", ObjectSelectorExpression: "true"}, roots: roots("true"), wantFree: true},
		"an expression that holds":        {object: v1alpha1.ObjectFilter{ObjectSelectorExpression: "obj.data.size == '3'"}, wantMember: true},
		"one that does not":               {object: v1alpha1.ObjectFilter{ObjectSelectorExpression: "obj.data.size == '4'"}, roots: roots("true")},
		"one that fails":                  {object: v1alpha1.ObjectFilter{ObjectSelectorExpression: "obj.data.colour == 'red'"}, wantErr: "objectSelectorExpression: "},
		"a path":                          {object: v1alpha1.ObjectFilter{JSONPath: "{.data}"}, wantMember: true, wantPart: `[{"size":"3"}]`},
		"a path after a false expression": {object: v1alpha1.ObjectFilter{JSONPath: "{.data}", ObjectSelectorExpression: "name == 'other'"}},
		"a root":                          {roots: roots("name == 'c'"), wantMember: true, wantRoot: true},
		"no root":                         {roots: roots("name == 'd'", "labels['app'] == 'db'"), wantMember: true},
		"a root that fails, and the next one": {
			roots: roots("obj.data.colour == 'red'", "name == 'c'"), wantMember: true, wantRoot: true,
			wantErr: "roots.objectSelectorExpressions[0]: ", wantPartial: true,
		},
		"two roots that fail": {
			roots: roots("obj.data.colour == 'red'", "obj.data.shape == 'round'"), wantMember: true,
			wantErr: "roots.objectSelectorExpressions[0]: ", wantPartial: true,
		},
		"a namespace of the view's":     {namespaces: map[string]bool{"shop": true}, wantMember: true, wantFree: true},
		"another namespace":             {object: v1alpha1.ObjectFilter{ObjectSelectorExpression: "true"}, namespaces: map[string]bool{"bank": true}, wantFree: true},
		"namespaces that are not known": {object: v1alpha1.ObjectFilter{ObjectSelectorExpression: "true"}, waits: true, wantUndecided: true, wantFree: true},
	} {
		t.Run(name, func(t *testing.T) {
			declared := selecting(test.object)
			declared.Roots = test.roots
			program, err := spec.Compile(t.Context(), nil, declared)
			if err != nil {
				t.Fatal(err)
			}
			j := &Judge{Resource: configmaps.Resource, Query: &program.Queries[0], Roots: program.Roots, Namespaces: test.namespaces, Waits: test.waits}
			var v Verdict
			if _, err := f.watch.Visit(t.Context(), f.retained(t), func(o *watch.Decoded) bool {
				v = j.Evaluate(t.Context(), nil, o)
				return true
			}); err != nil {
				t.Fatal(err)
			}
			if v.Selection.Member != test.wantMember || v.Selection.Root != test.wantRoot || v.Undecided != test.wantUndecided {
				t.Errorf("member %v, root %v, undecided %v; want %v, %v, %v",
					v.Selection.Member, v.Selection.Root, v.Undecided, test.wantMember, test.wantRoot, test.wantUndecided)
			}
			part, _ := v.Selection.Part.([]byte)
			if got := string(part); got != test.wantPart {
				t.Errorf("part %s, want %s", got, test.wantPart)
			}
			if (v.Cost == 0) != test.wantFree {
				t.Errorf("it cost %d; free: %v", v.Cost, test.wantFree)
			}
			_, partial := errors.AsType[*delivery.PartialError](v.Err)
			switch {
			case (v.Err != nil) != (test.wantErr != "") || v.Err != nil && !strings.HasPrefix(v.Err.Error(), test.wantErr):
				t.Errorf("error %v, want %q", v.Err, test.wantErr)
			case partial != test.wantPartial:
				t.Errorf("partial %v, want %v", partial, test.wantPartial)
			case v.Err != nil && strings.Contains(v.Err.Error(), "web"):
				t.Errorf("the error tells of the object's content: %v", v.Err)
			}
		})
	}
}

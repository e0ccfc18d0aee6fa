package command

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/api/v1alpha1"
)

func condition(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message}
}

func TestDescription(t *testing.T) {
	missing := int64(1)
	d := description{
		view: &v1alpha1.GraphView{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "storefront", Generation: 2},
			Spec:       v1alpha1.GraphViewSpec{Roots: &v1alpha1.Roots{}, ServiceAccountName: "viewer"},
			Status: v1alpha1.GraphViewStatus{
				ObservedGeneration: 2, Vertices: 10, Arcs: 23, Roots: 2, Subscribers: 1, ResourceCount: 25, Missing: &missing,
				Health: &v1alpha1.HealthCounts{OK: 6, Degraded: 1, Unknown: 3},
				Conditions: []metav1.Condition{
					condition(v1alpha1.ConditionReady, metav1.ConditionTrue, "Ready", "The graph is served."),
					condition(v1alpha1.ConditionHealthy, metav1.ConditionFalse, "Degraded", "1 object is degraded."),
					condition(v1alpha1.ConditionAccepted, metav1.ConditionTrue, "Accepted", "The spec is valid."),
				},
				Resources: []v1alpha1.ResourceStatus{
					{Version: "v1", Resource: "configmaps", Objects: 2, Synced: true},
					{Version: "v1", Resource: "pods", Objects: 3, Synced: true},
					{Version: "v1", Resource: "secrets", Message: "forbidden"},
					{Group: "apps", Version: "v1", Resource: "deployments", Objects: 1, Synced: true},
					{Group: "batch", Version: "v1", Resource: "jobs", Synced: true},
				},
				Warnings: []string{"v1/secrets: forbidden"},
			},
		},
		problems: []problem{{object: "Pod/web-0", state: "degraded", reason: "ImagePullBackOff 0/1"}, {object: "ConfigMap/web", state: "missing", reason: "referred to by Pod/web-0"}},
		denied:   1,
	}
	var got strings.Builder
	d.write(&got)
	const want = `GraphView shop/storefront, ServiceAccount viewer
10 objects, 23 references, 2 roots, 1 subscriber: 1 missing reference, 1 degraded, 6 ok, 3 unknown

Healthy    False    Degraded: 1 object is degraded.
Accepted   True     Accepted
Ready      True     Ready

Problems:
  Pod/web-0       degraded   ImagePullBackOff 0/1
  ConfigMap/web   missing    referred to by Pod/web-0
  You may not list and watch 1 resource of the graph, whose problems are not here.

Resources: 25 selected, 3 with objects
  secrets: forbidden
  pods 3, configmaps 2, deployments.apps 1

Warnings:
  v1/secrets: forbidden
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A description fits on one screen, however much there is to describe.
// TestDescriptionOfARefusal: the message that refuses a spec stands once.
func TestDescriptionOfARefusal(t *testing.T) {
	const refusal = "spec.queries[0]: unknown name 'resorce'"
	d := description{view: &v1alpha1.GraphView{Status: v1alpha1.GraphViewStatus{Conditions: []metav1.Condition{
		condition(v1alpha1.ConditionAccepted, metav1.ConditionFalse, "InvalidExpression", refusal),
		condition(v1alpha1.ConditionReady, metav1.ConditionFalse, "NotAccepted", "The spec is not accepted: "+refusal),
		condition(v1alpha1.ConditionStalled, metav1.ConditionTrue, "NotAccepted", "The spec is not accepted: "+refusal),
	}}}}
	var got strings.Builder
	d.writeConditions(&got)
	const want = `
Stalled    True     NotAccepted: see Accepted.
Accepted   False    InvalidExpression: ` + refusal + `
Ready      False    NotAccepted: see Accepted.
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDescriptionOfALongCondition: the name of a condition may be as long as a line.
func TestDescriptionOfALongCondition(t *testing.T) {
	name := strings.Repeat("x", 2*descriptionWidth)
	d := description{view: &v1alpha1.GraphView{Status: v1alpha1.GraphViewStatus{Conditions: []metav1.Condition{condition(name, metav1.ConditionFalse, "Broken", "it is broken")}}}}
	var got strings.Builder
	d.writeConditions(&got)
	if want := "\n" + name + "  False    Broken: it is broken\n"; got.String() != want {
		t.Errorf("%q, want %q", got.String(), want)
	}
}

func TestDescriptionIsOneScreen(t *testing.T) {
	const long = "something that takes very many words to say, of which a screen has no more than the first of them all, "
	message := strings.Repeat(long, 20)
	status := v1alpha1.GraphViewStatus{ObservedGeneration: 1, ResourceCount: 400}
	for _, kind := range conditionsInOrder {
		status.Conditions = append(status.Conditions, condition(kind, metav1.ConditionUnknown, "NotAccepted", message))
	}
	status.Conditions[0].Status = metav1.ConditionTrue // Stalled
	for i := range 400 {
		r := v1alpha1.ResourceStatus{Group: "example.com", Version: "v1", Resource: fmt.Sprintf("widgets%d", i), Objects: int64(i), Synced: i%2 == 0}
		if !r.Synced {
			r.Message = message
		}
		status.Resources = append(status.Resources, r)
	}
	for range v1alpha1.MaxWarnings {
		status.Warnings = append(status.Warnings, message)
	}
	view := &v1alpha1.GraphView{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "all", Generation: 2}, Status: status}
	problems := make([]problem, 100)
	for i := range problems {
		problems[i] = problem{object: "Pod/" + strings.Repeat("a", 253), state: "degraded", reason: message}
	}
	for name, d := range map[string]description{
		"with problems":              {view: view, problems: problems, denied: 3},
		"whose problems are unknown": {view: view, unknown: errors.New(message)},
		"of a view that is new":      {view: &v1alpha1.GraphView{}},
	} {
		t.Run(name, func(t *testing.T) {
			var text strings.Builder
			d.write(&text)
			lines := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
			if len(lines) > 50 {
				t.Errorf("%d lines:\n%s", len(lines), text.String())
			}
			for _, line := range lines {
				if utf8.RuneCountInString(line) > 130 {
					t.Errorf("%d characters: %s", utf8.RuneCountInString(line), line)
				}
			}
		})
	}
}

func TestWrap(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"nothing":       {"", []string{""}},
		"one line":      {"a b", []string{"a b"}},
		"two lines":     {"aaa bbb ccc", []string{"aaa bbb", "ccc"}},
		"a long word":   {"abcdefghijk", []string{"abcdefg…"}},
		"too many":      {"aaa bbb ccc ddd eee", []string{"aaa bbb", "ccc ddd…"}},
		"lines in text": {"a\n\nb", []string{"a b"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, wrap(test.text, 8, 2)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWrapEach(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"nothing":         {"", []string{""}},
		"one line":        {"a b", []string{"a b"}},
		"two lines":       {"a\nb", []string{"a", "b"}},
		"a long line":     {"aaa bbb ccc\nd", []string{"aaa bbb", "ccc", "d"}},
		"too many":        {"a\nb\nc\nd", []string{"a", "b", "c d"}},
		"too much":        {"a\nb\nccc ddd eee", []string{"a", "b", "ccc ddd…"}},
		"none has room":   {"aaa bbb ccc ddd eee\nfff ggg", []string{"aaa bbb", "ccc ddd", "eee fff…"}},
		"more than there": {"aaa bbb ccc ddd eee fff\ng", []string{"aaa bbb", "ccc ddd", "eee fff…"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, wrapEach(test.text, 8, 3)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestDescriptionListsAllProblems: a condition that is alone in being wrong has the room
// of the others, so that its last remedy is on the screen too.
func TestDescriptionListsAllProblems(t *testing.T) {
	message := "spec.queries[0].include.resourceSelectorExpression: it matches nothing: the cluster serves no resource 'pod'; did you mean 'pods'?\n" +
		"spec.queries[1].include.resourceSelectorExpression: it matches nothing: the cluster serves no group 'core': the core group is the empty text; did you mean group == ''?"
	d := description{view: &v1alpha1.GraphView{Status: v1alpha1.GraphViewStatus{Conditions: []metav1.Condition{
		condition(v1alpha1.ConditionEffective, metav1.ConditionFalse, "QueryMatchesNothing", message),
		condition(v1alpha1.ConditionReady, metav1.ConditionTrue, "Ready", ""),
	}}}}
	var text strings.Builder
	d.write(&text)
	if !strings.Contains(strings.Join(strings.Fields(text.String()), " "), "did you mean group == ''?") {
		t.Errorf("the last remedy is not said:\n%s", text.String())
	}
}

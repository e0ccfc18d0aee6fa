package v1alpha1

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestIneffective(t *testing.T) {
	for name, tt := range map[string]struct {
		status metav1.ConditionStatus
		about  int64
		want   string
		known  bool
	}{
		"each part has an effect":       {status: metav1.ConditionTrue, about: 2, known: true},
		"two parts have none":           {status: metav1.ConditionFalse, about: 2, want: "first; second", known: true},
		"not known yet":                 {status: metav1.ConditionUnknown, about: 2},
		"about an older spec":           {status: metav1.ConditionFalse, about: 1},
		"about an older spec, and True": {status: metav1.ConditionTrue, about: 1},
	} {
		t.Run(name, func(t *testing.T) {
			view := GraphView{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
			view.Status.Conditions = []metav1.Condition{
				{Type: ConditionReady, Status: metav1.ConditionTrue, ObservedGeneration: 2},
				{Type: ConditionEffective, Status: tt.status, ObservedGeneration: tt.about, Message: "first\nsecond"},
			}
			if text, known := view.Ineffective(); text != tt.want || known != tt.known {
				t.Errorf("%q, known %v; want %q, %v", text, known, tt.want, tt.known)
			}
		})
	}
}

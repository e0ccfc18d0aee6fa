package controllers

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
)

func TestMemory(t *testing.T) {
	var m memory
	name := graphview.Name{Namespace: "a", Name: "b"}
	first, _ := m.of(name, "uid-1")
	first.applied = 3
	if got, replaced := m.of(name, "uid-1"); got != first || replaced {
		t.Error("the same view has another record")
	}
	if got, replaced := m.of(name, "uid-2"); got == first || got.applied != 0 || !replaced {
		t.Error("a view that was made again has its predecessor's record")
	}
	m.forget(name)
	if len(m.records) != 0 {
		t.Errorf("%d records after the last view was forgotten", len(m.records))
	}
}

func TestNewest(t *testing.T) {
	version := func(v string) *v1alpha1.GraphView {
		return &v1alpha1.GraphView{ObjectMeta: metav1.ObjectMeta{ResourceVersion: v}}
	}
	tests := map[string]struct {
		cached, written *v1alpha1.GraphView
		want            string
	}{
		"nothing written":           {cached: version("9"), want: "9"},
		"the cache lags":            {cached: version("9"), written: version("10"), want: "10"},
		"the cache has it":          {cached: version("10"), written: version("10"), want: "10"},
		"somebody else wrote since": {cached: version("11"), written: version("10"), want: "11"},
		"not a number":              {cached: version("x"), written: version("10"), want: "x"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := (&record{written: tt.written}).newest(tt.cached).ResourceVersion; got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

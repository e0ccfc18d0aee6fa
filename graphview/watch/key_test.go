package watch

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestCanonicalKey(t *testing.T) {
	deployments := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	tests := map[string]struct {
		key     Key
		want    string
		wantErr string
	}{
		"whole cluster": {key: Key{Resource: deployments}, want: "deployments.apps"},
		"selectors": {
			key:  Key{Resource: deployments, Namespace: "shop", LabelSelector: "b in (y,x), a = 1", FieldSelector: "metadata.name=x"},
			want: "deployments.apps namespace shop labels a=1,b in (x,y) fields metadata.name=x",
		},
		"no resource":        {key: Key{}, wantErr: "key without version"},
		"subresource":        {key: Key{Resource: deployments.GroupVersion().WithResource("deployments/scale")}, wantErr: `resource "deployments/scale": subresources cannot be watched`},
		"bad namespace":      {key: Key{Resource: deployments, Namespace: ".."}, wantErr: `namespace "..": may not be '..'`},
		"bad label selector": {key: Key{Resource: deployments, LabelSelector: "a=("}, wantErr: "label selector: unable to parse requirement: found '(', expected: identifier"},
		"bad field selector": {key: Key{Resource: deployments, FieldSelector: "a"}, wantErr: "field selector: invalid selector: 'a'; can't understand 'a'"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := test.key.canonical()
			if test.wantErr != "" {
				if err == nil || err.Error() != test.wantErr {
					t.Errorf("err = %v, want %s", err, test.wantErr)
				}
				return
			}
			if err != nil || got.String() != test.want {
				t.Errorf("key %q, %v, want %q", got, err, test.want)
			}
			if again, err := got.canonical(); err != nil || again != got {
				t.Errorf("not canonical: %q becomes %q", got, again)
			}
		})
	}
}

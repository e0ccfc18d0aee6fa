package spec

import (
	"strings"
	"testing"

	"graphview.dev/api/v1alpha1"
)

// TestNamespaceNames: a request on a connection is not checked by a CRD.
func TestNamespaceNames(t *testing.T) {
	for name, test := range map[string]struct{ namespace, wantErr string }{
		"a name":     {namespace: "shop-1"},
		"empty":      {wantErr: `spec.namespaces.names[1]: "" is not the name of a namespace`},
		"a path":     {namespace: "../nodes", wantErr: `spec.namespaces.names[1]: "../nodes" is not the name of a namespace`},
		"a pattern":  {namespace: "shop-*", wantErr: `spec.namespaces.names[1]: "shop-*" is not the name of a namespace`},
		"upper case": {namespace: "Shop", wantErr: `spec.namespaces.names[1]: "Shop" is not the name of a namespace`},
	} {
		t.Run(name, func(t *testing.T) {
			declared := v1alpha1.GraphViewSpec{Queries: []v1alpha1.Query{{Include: &v1alpha1.Include{ResourceSelectorExpression: "resource == 'configmaps'"}}}}
			declared.Namespaces = &v1alpha1.Namespaces{Names: []v1alpha1.NamespaceName{"red", v1alpha1.NamespaceName(test.namespace)}}
			_, err := Compile(t.Context(), nil, declared)
			if test.wantErr == "" && err != nil || test.wantErr != "" && (err == nil || !strings.Contains(err.Error(), test.wantErr)) {
				t.Errorf("got %v, want %q", err, test.wantErr)
			}
		})
	}
}

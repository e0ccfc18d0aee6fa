package graphview

import (
	"context"
	"errors"
	"strings"
	"testing"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/delivery"
)

func configMapsSpec() Spec {
	return Spec{Queries: []Query{{Include: &Include{ResourceSelectorExpression: "resource == 'configmaps'"}}}}
}

// TestViewOfAStoppedEngine ends as one that was there before: nobody waits for
// what does not come.
func TestViewOfAStoppedEngine(t *testing.T) {
	e, err := NewEngine(Options{Config: serveConfigMaps(t, 1)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := e.Run(ctx); err != nil {
		t.Fatal(err)
	}
	name := Name{Namespace: "shop", Name: "late"}
	if err := e.Apply(t.Context(), name, "uid", configMapsSpec()); err != nil {
		t.Fatal(err)
	}
	v, _ := e.View(name)
	s := v.Subscribe(delivery.SubscribeOptions{})
	defer s.Close()
	for what, err := range map[string]error{"WaitSynced": v.WaitSynced(t.Context()), "Next": func() error { _, err := s.Next(t.Context()); return err }()} {
		if closed, ok := errors.AsType[*delivery.ClosedError](err); !ok || closed.Reason != reason.Stopping {
			t.Errorf("%s: %v, want %s", what, err, reason.Stopping)
		}
	}
}

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
			spec := configMapsSpec()
			spec.Namespaces = &Namespaces{Names: []string{"red", test.namespace}}
			_, err := Compile(t.Context(), spec)
			if test.wantErr == "" && err != nil || test.wantErr != "" && (err == nil || !strings.Contains(err.Error(), test.wantErr)) {
				t.Errorf("got %v, want %q", err, test.wantErr)
			}
		})
	}
}

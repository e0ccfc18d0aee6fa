package integration

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/graphview"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/delivery"
	"graphview.dev/test/oracle"
)

// selected is a view of the ConfigMaps in the namespaces that an expression
// selects.
func selected(expression string) oracle.View {
	return oracle.View{Queries: configMaps().Queries, Namespaces: &oracle.Namespaces{ObjectSelectorExpression: expression}}
}

// TestNamespaceSelectionChangesByTheDifference: objects of namespaces that stay selected stay
// in the graph while the selection is evaluated again.
func TestNamespaceSelectionChangesByTheDifference(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	red, blue := newNamespace(t, c), newNamespace(t, c)
	createConfigMaps(t, c, red, 3)
	createConfigMaps(t, c, blue, 3)
	e := runEngine(t, graphview.Options{})
	label := func(names ...string) oracle.View {
		v := selected("")
		v.Namespaces.LabelSelector = "kubernetes.io/metadata.name in (" + strings.Join(names, ",") + ")"
		return v
	}
	view := mustApply(t, e, "view", configMaps(red))
	f := follow(t.Context(), view)
	becomes(t, f, configMaps(red))

	ctx, stop := context.WithCancel(t.Context())
	deleted := make(chan int)
	s := view.Subscribe(delivery.SubscribeOptions{})
	defer s.Close()
	go func() {
		n := 0
		for {
			frames, err := s.Next(ctx)
			if err != nil {
				deleted <- n
				return
			}
			for _, frame := range frames {
				n += bytes.Count(frame.Actions, []byte(`{"dvx":`))
			}
		}
	}()
	for _, v := range []oracle.View{
		label(red, blue), label(blue, red, "absent"), selected(fmt.Sprintf("name in ['%s', '%s']", red, blue)),
		selected(fmt.Sprintf("name.startsWith('%s') || name.startsWith('%s')", red, blue)), label(red, blue),
	} {
		mustApply(t, e, "view", v)
		becomes(t, f, v)
		if err := view.WaitSynced(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	if n := <-deleted; n > 0 {
		t.Errorf("%d vertices were deleted, though every selection has those of the one before", n)
	}
}

// TestNamespacesOfAConnection: an expression about namespaces sees only namespaces that its
// author may read. Its selection and the author's rights in each namespace both apply.
func TestNamespacesOfAConnection(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	red, blue := newNamespace(t, c), newNamespace(t, c)
	createConfigMaps(t, c, red, 3)
	createConfigMaps(t, c, blue, 3)
	e := runEngine(t, graphview.Options{})
	many := []string{red, blue}
	for i := range 9 {
		many = append(many, fmt.Sprint("absent-", i))
	}
	expression := fmt.Sprintf("name == '%s' && labels['kubernetes.io/metadata.name'] != ''", red)
	for name, test := range map[string]struct {
		names      []string
		namespaces bool // the author may read them
		want       oracle.View
		warned     bool
	}{
		"may read namespaces":                  {namespaces: true, want: configMaps(red)},
		"may not read namespaces":              {want: configMaps("absent"), warned: true},
		"may read namespaces, names many":      {names: many, namespaces: true, want: configMaps(red)},
		"may not read namespaces, names many":  {names: many, want: configMaps("absent"), warned: true},
		"may read namespaces, names one of it": {names: []string{blue}, namespaces: true, want: configMaps("absent")},
	} {
		t.Run(name, func(t *testing.T) {
			v := selected(expression)
			v.Namespaces.Names = test.names
			view, err := e.Open(t.Context(), graphview.OpenOptions{Spec: specOf(t, v), Subscriber: &user.DefaultInfo{Name: "ann"}, Rights: permitted(func(p access.Place) bool {
				return p.Resource == "configmaps" && p.Namespace != "" || p.Resource == "namespaces" && test.namespaces
			})})
			if err != nil {
				t.Fatal(err)
			}
			defer e.CloseView(view)
			f := follow(t.Context(), view)
			becomes(t, f, test.want)
			eventually(t, soon, func() string {
				warnings := fmt.Sprint(f.Warnings())
				if strings.Contains(warnings, red) {
					t.Fatalf("the warnings name a namespace: %s", warnings)
				}
				if strings.Contains(warnings, "namespaces") != test.warned {
					return "warnings: " + warnings
				}
				return ""
			})
		})
	}
}

// TestUnknownNamespacesShowInTheRow: where the operator may watch neither all
// namespaces at once nor list them, a resource is not said to have synced.
func TestUnknownNamespacesShowInTheRow(t *testing.T) {
	t.Parallel()
	e := runEngineAs(t, graphview.Options{}, cluster.ClientConfig("reader-of-nothing"))
	view := mustApply(t, e, "view", oracle.View{Queries: configMaps().Queries})
	eventually(t, 20*time.Second, func() string {
		s := view.Status()
		if !s.Synced || len(s.Resources) != 1 || s.Resources[0].Synced || s.Resources[0].Message == "" {
			return fmt.Sprintf("%+v", s)
		}
		return ""
	})
}

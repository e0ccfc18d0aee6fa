package integration

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/graphview"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/rights"
	"graphview.dev/graphview/spec"
	"graphview.dev/test/fixture"
	"graphview.dev/test/oracle"
)

// TestServiceAccountRestrictsTheView: it holds only what the account may list
// and watch, and follows its rights.
func TestServiceAccountRestrictsTheView(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	red, blue := newNamespace(t, c), newNamespace(t, c)
	createConfigMaps(t, c, red, 3)
	createConfigMaps(t, c, blue, 3)
	allowed := make(chan map[string]bool, 1)
	allowed <- map[string]bool{red: true}
	e := runEngine(t, graphview.Options{
		RightsInterval: 100 * time.Millisecond,
		Review: func(_ context.Context, who user.Info, q access.Question) (bool, error) {
			set := <-allowed
			defer func() { allowed <- set }()
			return strings.HasSuffix(who.GetName(), ":viewer") && set[q.Namespace], nil
		},
	})
	declared := specOf(t, configMaps(red, blue))
	declared.ServiceAccountName = "viewer"
	name := graphview.Name{Namespace: red, Name: "view"}
	if err := e.Apply(t.Context(), name, "uid", declared); err != nil {
		t.Fatal(err)
	}
	view, _ := e.View(name)
	f := follow(t.Context(), view)
	becomes(t, f, configMaps(red))
	saysUnread(t, view, blue)
	<-allowed
	allowed <- map[string]bool{red: true, blue: true}
	becomes(t, f, configMaps(red, blue))
	<-allowed
	allowed <- map[string]bool{blue: true}
	becomes(t, f, configMaps(blue))
}

// saysUnread waits until a view's only row says that its ServiceAccount viewer may not read a namespace. The rows
// follow the graph with a delay.
func saysUnread(t *testing.T, view *graphview.View, namespace string) {
	t.Helper()
	eventually(t, soon, func() string {
		rows := view.Status().Resources
		if len(rows) != 1 || !strings.Contains(rows[0].Message, "service account viewer may not list and watch it in "+namespace) {
			return fmt.Sprintf("resources %+v", rows)
		}
		return ""
	})
}

// permitted returns the rights of users who may list and watch some places.
func permitted(allowed func(access.Place) bool) *rights.Permissions {
	asker := access.New(access.Options{Review: func(_ context.Context, _ user.Info, q access.Question) (bool, error) {
		return allowed(access.Place{Group: q.Group, Resource: q.Resource, Namespace: q.Namespace}), nil
	}})
	return rights.New(rights.Options{Urgent: asker, Calm: asker, Interval: time.Minute})
}

// TestViewForOneConnection is fed only with what its subscriber may read, by
// namespace where that is how its rights are, shares watches with named views,
// and leaves nothing behind.
func TestViewForOneConnection(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	red, blue := newNamespace(t, c), newNamespace(t, c)
	createConfigMaps(t, c, red, 3)
	createConfigMaps(t, c, blue, 3)
	e := runEngine(t, graphview.Options{})
	everything := oracle.View{Queries: configMaps().Queries}
	named := mustApply(t, e, "named", everything)
	if err := named.WaitSynced(t.Context()); err != nil {
		t.Fatal(err)
	}
	o := graphview.OpenOptions{
		Spec: specOf(t, everything), Subscriber: &user.DefaultInfo{Name: "ann"},
		Rights: permitted(func(p access.Place) bool { return p.Resource == "configmaps" && p.Namespace == red }),
	}
	view, err := e.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	f := follow(t.Context(), view)
	becomes(t, f, configMaps(red))
	e.CloseView(view)
	<-f.done
	eventually(t, 10*time.Second, func() string {
		if n := e.Watches(); n != 1 {
			return fmt.Sprintf("%d watches, want that of the named view", n)
		}
		return ""
	})
	if other, err := e.Open(t.Context(), o); err != nil {
		t.Errorf("Open after CloseView: %v", err)
	} else {
		e.CloseView(other)
	}
	o.Spec.Queries = nil
	var invalid *spec.InvalidError
	if _, err := e.Open(t.Context(), o); !errors.As(err, &invalid) {
		t.Errorf("Open without queries: %v", err)
	}
}

// TestOperatorOfSomeNamespaces: where the operator may not watch all namespaces
// at once, it watches those of the view one by one.
func TestOperatorOfSomeNamespaces(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	red, blue := newNamespace(t, c), newNamespace(t, c)
	createConfigMaps(t, c, red, 3)
	createConfigMaps(t, c, blue, 3)
	user := "reader-of-" + red
	for _, namespace := range []string{red, blue} {
		meta := metav1.ObjectMeta{Namespace: namespace, Name: "reader"}
		list := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list", "watch"}}
		role := &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{list}}
		binding := &rbacv1.RoleBinding{
			ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "reader"},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}},
		}
		for _, o := range []client.Object{role, binding} {
			create(t, c, o)
		}
		fixture.Authorized(t, c, binding.Subjects, namespace, list)
	}
	names := []string{red, blue}
	for i := range 9 { // more than are watched one by one of one's own accord
		names = append(names, fmt.Sprint("absent-", i))
	}
	e := runEngineAs(t, graphview.Options{}, cluster.ClientConfig(user))
	f := follow(t.Context(), mustApply(t, e, "view", configMaps(names...)))
	eventually(t, 30*time.Second, func() string {
		want, err := oracle.Build(t.Context(), cluster.Config(), configMaps(red, blue))
		if err != nil {
			t.Fatal(err)
		}
		var diff string
		f.Look(func(c *oracle.Client) { diff = oracle.Compare(want, c.Graph()) })
		return diff
	})
}

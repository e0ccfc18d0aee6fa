package replicas

import (
	"fmt"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/test/oracle"
)

// TestRightsAtEveryEdge: rights are granted, withheld and revoked equally at each replica,
// because the replica that a subscriber is connected to checks them.
func TestRightsAtEveryEdge(t *testing.T) {
	settled(t, edges)
	s := newScene(t, 2)
	seen, hidden := s.namespaces[0], s.namespaces[1]
	home := s.namespaces[0]
	s.declare(home, "both", fmt.Sprintf(`{queries: [{include: {resourceSelectorExpression: "resource == 'configmaps'"}}], namespaces: {names: [%s, %s]}}`, seen, hidden))
	all := s.views[[2]string{home, "both"}]
	part := all
	part.Namespaces = &oracle.Namespaces{Names: []string{seen}}

	user := "ann-" + home
	grant := func(namespace string, rules ...rbacv1.PolicyRule) {
		t.Helper()
		role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "ann"}, Rules: rules}
		binding := &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "ann"},
			RoleRef:    rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "Role", Name: "ann"},
			Subjects:   []rbacv1.Subject{{APIGroup: "rbac.authorization.k8s.io", Kind: "User", Name: user}},
		}
		if err := s.client.Create(t.Context(), role); err != nil {
			t.Fatal(err)
		}
		if err := s.client.Create(t.Context(), binding); err != nil {
			t.Fatal(err)
		}
	}
	graphs := rbacv1.PolicyRule{APIGroups: []string{"stream.graphview.dev"}, Resources: []string{"graphs"}, Verbs: []string{"get", "list", "watch"}}
	configs := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list", "watch"}}
	grant(seen, graphs, configs)

	config := cluster.ClientConfig(user)
	var readers []*reader
	for _, edge := range edges {
		readers = append(readers, read(t, config, edge, home, "both"))
	}
	sees := func(view oracle.View) {
		t.Helper()
		eventually(t, func() string {
			want, err := oracle.Build(t.Context(), cluster.Config(), view)
			if err != nil {
				return err.Error()
			}
			for i, r := range readers {
				if diff := r.differs(want); diff != "" {
					return fmt.Sprintf("at replica %d: %s", i, diff)
				}
			}
			return ""
		})
	}
	sees(part)
	// At another replica, which has no cached rights of ann for this view, the subscriber
	// resumes.
	for i, r := range readers {
		r.move(edges[(i+1)%len(edges)])
	}
	s.add(seen)
	s.add(hidden)
	sees(part)
	for i, r := range readers {
		if _, ends := r.counts(); r.resetsInPlace() > 0 || len(ends) > 0 {
			t.Errorf("reader %d: %d resets, ends %v: %q", i, r.resetsInPlace(), ends, r.tell())
		}
	}

	grant(hidden, configs)
	sees(all)
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: hidden, Name: "ann"}}
	if err := s.client.Delete(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
	sees(part)
	// Without the right to the graph, streams end at each replica, and none begins.
	binding.Namespace, binding.ResourceVersion, binding.UID = seen, "", ""
	if err := s.client.Delete(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() string {
		for i, r := range readers {
			ended := r.Ends()[1008]
			r.mu.Lock()
			status := r.status
			r.mu.Unlock()
			if status != 403 || ended != 1 {
				return fmt.Sprintf("at replica %d: HTTP %d, %d streams ended with 1008", i, status, ended)
			}
		}
		return ""
	})
}

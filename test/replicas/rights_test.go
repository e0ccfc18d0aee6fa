package replicas

import (
	"fmt"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/test/oracle"
)

// graphs is the right to read graphs.
var graphs = rbacv1.PolicyRule{APIGroups: []string{"stream.graphview.dev"}, Resources: []string{"graphs"}, Verbs: []string{"get", "list", "watch"}}

// grant gives a user rights by a Role and a RoleBinding.
func (s *scene) grant(namespace, name, user string, rules ...rbacv1.PolicyRule) {
	s.t.Helper()
	meta := metav1.ObjectMeta{Namespace: namespace, Name: name}
	for _, object := range []client.Object{
		&rbacv1.Role{ObjectMeta: meta, Rules: rules},
		&rbacv1.RoleBinding{
			ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
		},
	} {
		if err := s.client.Create(s.t.Context(), object); err != nil {
			s.t.Fatal(err)
		}
	}
}

// TestRightsAtEveryEdge: rights are granted, withheld and revoked equally at each replica,
// because the replica that a subscriber is connected to checks them.
func TestRightsAtEveryEdge(t *testing.T) {
	s := newScene(t, 2)
	seen, hidden := s.namespaces[0], s.namespaces[1]
	home := s.namespaces[0]
	s.declare(home, "both", "resource == 'configmaps'", seen, hidden)
	all := s.views[[2]string{home, "both"}]
	part := all
	part.Namespaces = &oracle.Namespaces{Names: []string{seen}}

	user := "ann-" + home
	configs := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list", "watch"}}
	s.grant(seen, "ann", user, graphs, configs)

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
	for _, r := range readers {
		r.undisturbed(t)
	}

	s.grant(hidden, "ann", user, configs)
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
			status, ended := r.soFar().status, r.Ends()[1008]
			if status != 403 || ended != 1 {
				return fmt.Sprintf("at replica %d: HTTP %d, %d streams ended with 1008", i, status, ended)
			}
		}
		return ""
	})
}

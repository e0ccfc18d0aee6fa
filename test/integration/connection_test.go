package integration

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/coder/websocket"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/graphview"
	"graphview.dev/stream"
	"graphview.dev/test/fixture"
	"graphview.dev/test/oracle"
	"graphview.dev/test/subscriber"
)

// TestConnectionView asks /graph for a view of everything, as a user that may read ConfigMaps
// in one namespace. The graph holds only these, and counts, expressions and arcs reveal
// nothing else. When the connection ends, nothing of the view remains.
func TestConnectionView(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	red, blue := newNamespace(t, c), newNamespace(t, c)
	createConfigMaps(t, c, red, 4)
	createConfigMaps(t, c, blue, 4)
	user := "explorer-of-" + red
	subjects := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}}
	list := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list", "watch"}}
	create(t, c, &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: red, Name: "explorer"}, Rules: []rbacv1.PolicyRule{list}})
	create(t, c, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: red, Name: "explorer"}, Subjects: subjects,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "explorer"},
	})
	fixture.Authorized(t, c, subjects, red, list)

	e := runEngine(t, graphview.Options{})
	server := startStream(t, c, stream.Of(e))
	port := ownPort(t, server, cluster.ClientConfig(user))
	if _, code, err := port.dial(t, "/graph", "gitlab-agent-graph-api"); err == nil || code != http.StatusForbidden {
		t.Fatalf("without the right to /graph: %d, %v", code, err)
	}
	create(t, c, &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: user}, Rules: []rbacv1.PolicyRule{{NonResourceURLs: []string{"/graph"}, Verbs: []string{"get"}}},
	})
	create(t, c, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user}, Subjects: subjects,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: user},
	})
	var conn *websocket.Conn
	eventually(t, 20*time.Second, func() string {
		var err error
		if conn, _, err = port.dial(t, "/graph", "gitlab-agent-graph-api"); err != nil {
			return err.Error()
		}
		return ""
	})
	request := `{"queries":[{"include":{"resource_selector_expression":"group == '' && resource in ['configmaps', 'secrets', 'nodes', 'namespaces']"}}]}`
	if err := conn.Write(t.Context(), websocket.MessageText, []byte(request)); err != nil {
		t.Fatal(err)
	}

	got := followStream(t.Context(), subscriber.Socket(t.Context(), conn))
	eventually(t, 40*time.Second, func() string {
		want, err := oracle.Build(t.Context(), cluster.Config(), configMaps(red))
		if err != nil {
			t.Fatal(err)
		}
		return got.Differs(want)
	})
	if e.Watches() == 0 {
		t.Error("nothing is watched")
	}
	_ = conn.Close(websocket.StatusNormalClosure, "")
	<-got.done
	eventually(t, 20*time.Second, func() string {
		if n := e.Watches(); n != 0 {
			return fmt.Sprintf("%d watches are left", n)
		}
		if size := e.Size(); size.Nodes+size.Lenses != 0 {
			return fmt.Sprintf("%+v is left", size)
		}
		return ""
	})
}

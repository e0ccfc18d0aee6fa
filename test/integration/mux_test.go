package integration

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/graphview"
	"graphview.dev/stream"
	"graphview.dev/test/oracle"
	"graphview.dev/test/seed"
	"graphview.dev/test/workload"
)

// TestMuxNeighbours has 50 views on one connection: five are forbidden, five
// unknown, five deleted meanwhile. The others never notice: they end with the
// oracle's graphs, and those in which nothing happens are not sent anything.
func TestMuxNeighbours(t *testing.T) {
	letAllConnect(t)
	c := newClient(t)
	red, blue, calm := newNamespace(t, c), newNamespace(t, c), newNamespace(t, c)
	createConfigMaps(t, c, calm, 3)
	p := newPerson(t, red, "many")
	grant(t, c, p, red, graphRule("watch"))
	grant(t, c, p, "", rbacv1.PolicyRule{
		APIGroups: []string{"", "apps", "batch", "discovery.k8s.io", "networking.k8s.io"}, Resources: []string{"*"}, Verbs: []string{"list", "watch"},
	})
	engine := runEngine(t, graphview.Options{})
	server := startStream(t, c, stream.Of(engine))

	// 30 that change, five that do not, five that will be deleted; and five in a
	// namespace whose graphs p may not watch.
	views := map[graphview.Name]oracle.View{}
	var changing, calmOnes, doomed, forbidden, unknown []graphview.Name
	declare := func(namespace, name string, v oracle.View) graphview.Name {
		n := graphview.Name{Namespace: namespace, Name: name}
		if err := engine.Apply(t.Context(), n, "uid-"+name, specOf(t, v)); err != nil {
			t.Fatal(err)
		}
		return n
	}
	sorts := workload.Views(red, blue)
	names := slices.Sorted(maps.Keys(sorts))
	for i := range 30 {
		v := sorts[names[i%len(names)]]
		name := declare(red, fmt.Sprint("view-", i), v)
		views[name] = v
		changing = append(changing, name)
	}
	still := configMaps(calm)
	// The controller manager adds kube-root-ca.crt when it likes.
	still.Queries[0].Include.Object.ObjectSelectorExpression = "name != 'kube-root-ca.crt'"
	for i := range 5 {
		name := declare(red, fmt.Sprint("calm-", i), still)
		views[name] = still
		calmOnes = append(calmOnes, name)
		doomed = append(doomed, declare(red, fmt.Sprint("doomed-", i), sorts["everything"]))
		forbidden = append(forbidden, declare(blue, fmt.Sprint("forbidden-", i), sorts["everything"]))
		unknown = append(unknown, graphview.Name{Namespace: red, Name: fmt.Sprint("unknown-", i)})
	}

	m := dialMux(t, ownPort(t, server, p.certificate))
	all := slices.Concat(changing, calmOnes, doomed, forbidden, unknown)
	if len(all) != 50 {
		t.Fatalf("%d views", len(all))
	}
	rand.New(rand.NewPCG(seed.Of(t), 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	ids := map[graphview.Name]int64{}
	for i, name := range all {
		ids[name] = int64(i) + 1000
		m.sendSubscribe(t, ids[name], name)
	}
	for _, name := range forbidden {
		m.refuses(t, ids[name], 1008, "you may not watch graph "+name.String())
	}
	for _, name := range unknown {
		m.refuses(t, ids[name], 1008, "not found")
	}
	settle := func(what string) {
		t.Helper()
		channels, shown := map[string]*muxChannel{}, map[string]oracle.View{}
		for name, v := range views {
			channels[name.String()], shown[name.String()] = m.opened(t, ids[name]), v
		}
		agree(t, shown, func(name string, want oracle.Graph) string {
			if diff := channels[name].Differs(want); diff != "" {
				return what + ": " + diff
			}
			return ""
		})
	}
	settle("at the start")
	before := map[graphview.Name]int{}
	for _, name := range calmOnes {
		before[name], _, _ = m.opened(t, ids[name]).counts()
	}

	w := workload.Workload{Client: c, Random: rand.New(rand.NewPCG(seed.Of(t), 1)), Namespaces: []string{red, blue}}
	work := func(n int) {
		t.Helper()
		for range n {
			if err := w.Step(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	work(40)
	for i, name := range doomed {
		engine.Remove(name)
		// Requests for forbidden and unknown graphs are repeated.
		m.sendSubscribe(t, int64(i)+2000, forbidden[i])
		m.sendSubscribe(t, int64(i)+3000, unknown[i])
		work(5)
	}
	work(20)
	settle("after the workload")
	for i, name := range doomed {
		channel := m.opened(t, ids[name])
		eventually(t, 20*time.Second, func() string {
			if reason, ok := endedWith(&channel.graphFollower, 1000); !ok {
				return fmt.Sprintf("%s: %s", name, reason)
			}
			return ""
		})
		m.refuses(t, int64(i)+2000, 1008, "you may not watch graph "+forbidden[i].String())
		m.refuses(t, int64(i)+3000, 1008, "not found")
	}
	for name := range views {
		messages, resets, redundant := m.opened(t, ids[name]).counts()
		if resets != 0 {
			t.Errorf("%s was reset", name)
		}
		if n, ok := before[name]; ok && (messages != n || redundant != 0) {
			t.Errorf("%s: nothing changed, and it was sent %d messages more, %d elements again", name, messages-n, redundant)
		}
	}
	if err := m.failure(); err != nil {
		t.Errorf("connection: %v", err)
	}
}

// TestMuxThroughAPIServer: on a connection that the API server relays, a view of
// one's own is had with the right to it, graphs end one by one with their rights,
// continue where they were, and leave nothing behind.
func TestMuxThroughAPIServer(t *testing.T) {
	letAllConnect(t)
	applyShipped(t, "requester_role.yaml")
	c := newClient(t)
	red, blue := newNamespace(t, c), newNamespace(t, c)
	createConfigMaps(t, c, red, 4)
	createConfigMaps(t, c, blue, 4)
	p := newPerson(t, red, "relayed")
	grant(t, c, p, red, rule("list watch", "configmaps"))
	engine := runEngine(t, graphview.Options{})
	names, bindings := map[string]graphview.Name{}, map[string]*rbacv1.RoleBinding{}
	for _, name := range []string{"one", "two"} {
		names[name] = graphview.Name{Namespace: red, Name: name}
		if err := engine.Apply(t.Context(), names[name], "uid-"+name, specOf(t, configMaps(red))); err != nil {
			t.Fatal(err)
		}
		only := graphRule("watch")
		only.ResourceNames = []string{name}
		bindings[name], _ = grant(t, c, p, red, only).(*rbacv1.RoleBinding)
	}
	server := startStream(t, c, stream.Of(engine), func(o *stream.Options) { o.PermissionRecheck = time.Second })
	aggregate(t, server)
	m := dialMux(t, throughAPIServer(t, p.certificate))
	becomes := func(channel *muxChannel, v oracle.View) {
		t.Helper()
		eventually(t, 40*time.Second, func() string {
			want, err := oracle.Build(t.Context(), cluster.Config(), v)
			if err != nil {
				t.Fatal(err)
			}
			return channel.Differs(want)
		})
	}
	one, two := m.subscribe(t, 1, names["one"]), m.subscribe(t, 2, names["two"])
	becomes(one, configMaps(red))
	becomes(two, configMaps(red))

	const request = `{"queries":[{"include":{"resourceSelectorExpression":"group == '' && resource in ['configmaps', 'secrets']"}}]}`
	m.send(t, `{"id":3,"subscribe":{"spec":%s}}`, request)
	m.refuses(t, 3, 1008, "you may not get /graph")
	create(t, c, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "requester-"}, Subjects: p.subjects,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "graphview-requester"},
	})
	id := int64(100)
	eventually(t, 20*time.Second, func() string {
		id++
		m.send(t, `{"id":%d,"subscribe":{"spec":%s}}`, id, request)
		if a := m.answer(t, id); a.Error != nil {
			return a.Error.Message
		}
		return ""
	})
	own := m.opened(t, id)
	// The request is for all ConfigMaps. The graph has only the ones in p's rights.
	becomes(own, configMaps(red))
	watches := engine.Watches()
	m.send(t, `{"id":4,"unsubscribe":{"channel":%d}}`, m.answer(t, id).Channel)
	if a := m.answer(t, 4); a.Error != nil || a.Channel != m.answer(t, id).Channel {
		t.Errorf("unsubscribed: %+v", a)
	}
	eventually(t, 20*time.Second, func() string {
		if n := engine.Watches(); n >= watches {
			return fmt.Sprintf("%d watches, were %d", n, watches)
		}
		return ""
	})

	remove(t, c, bindings["one"])
	eventually(t, 30*time.Second, func() string {
		if reason, ok := endedWith(&one.graphFollower, 1008); !ok || !strings.Contains(reason, "may no longer watch graph") {
			return reason
		}
		return ""
	})
	createConfigMap(t, c, red, "another")
	becomes(two, configMaps(red))
	rev, redundant := two.Rev(), two.Redundant()
	if redundant != 0 {
		t.Errorf("%d elements were sent again", redundant)
	}

	// A new connection, and the graph goes on where it was.
	_ = m.conn.Close(websocket.StatusNormalClosure, "")
	<-m.done
	eventually(t, 20*time.Second, func() string {
		if status, _ := engine.Status(names["two"]); status.Subscribers != 0 {
			return fmt.Sprintf("%d subscribers", status.Subscribers)
		}
		return ""
	})
	createConfigMap(t, c, red, "meanwhile")
	m = dialMux(t, throughAPIServer(t, p.certificate))
	m.send(t, `{"id":1,"subscribe":{"namespace":%q,"name":"two","since":%q}}`, red, rev)
	resumed := m.opened(t, 1)
	eventually(t, 20*time.Second, func() string {
		why := ""
		resumed.Look(func(c *oracle.Client) {
			vertices := c.Graph().Vertices
			if _, ok := vertices[oracle.VertexKey{Version: "v1", Resource: "configmaps", Namespace: red, Name: "meanwhile"}]; !ok || len(vertices) != 1 {
				why = fmt.Sprintf("%d vertices", len(vertices))
			}
		})
		if err := resumed.Err(); why != "" && err != nil {
			return err.Error()
		}
		return why
	})
	if _, resets, _ := resumed.counts(); resets != 0 {
		t.Error("began anew")
	}
}

package integration

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
	"graphview.dev/test/oracle"
	"graphview.dev/test/subscriber"
)

// withReleases is a view of a namespace's Secrets and of what releases manage.
func withReleases(namespace string) oracle.View {
	return oracle.View{
		Queries: []oracle.Query{{Include: &oracle.Include{
			ResourceSelectorExpression: "resource in ['secrets', 'configmaps', 'deployments', 'clusterroles']",
		}}},
		Namespaces: &oracle.Namespaces{Names: []string{namespace}},
	}
}

// managed says what releases manage according to a follower: secret → what.
func (f *graphFollower) managed() []string {
	var out []string
	f.Look(func(c *oracle.Client) {
		for key, attributes := range c.Graph().Arcs {
			if slices.Equal(attributes.Fields, []string{"data.release"}) {
				_, revision, _ := strings.Cut(key.From.Name, "v1.")
				out = append(out, fmt.Sprintf("%s → %s/%s %t", revision, key.To.Resource, key.To.Name, attributes.Missing))
			}
		}
	})
	slices.Sort(out)
	return out
}

// warned are the messages of the warnings about single objects.
func (f *graphFollower) warned() string { return fmt.Sprint(f.Warnings()) }

// TestHelmReleases follows a release through its life.
func TestHelmReleases(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	namespace := newNamespace(t, c)
	packed := func(status string, revision int, names ...string) []byte {
		return []byte(base64.StdEncoding.EncodeToString(helmPacked(t, namespace, status, helmChart(namespace, names...), revision)))
	}
	for _, name := range []string{"a", "b"} {
		put(t, c, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}})
	}
	put(t, c, helmSecret(namespace, "deployed", 1, packed("deployed", 1, "a")))

	v := withReleases(namespace)
	engine := runEngine(t, graphview.Options{})
	view := mustApply(t, engine, "releases", v)
	ctx, stop := context.WithCancel(t.Context())
	f := follow(ctx, view)
	defer func() { stop(); <-f.done }()

	common := []string{"web.v%d → clusterroles/view false", "web.v%d → deployments/web true"}
	arcs := func(revision int, configMaps ...string) []string {
		var out []string
		for _, name := range configMaps {
			out = append(out, fmt.Sprintf("web.v%d → configmaps/%s", revision, name))
		}
		for _, line := range common {
			out = append(out, fmt.Sprintf(line, revision))
		}
		slices.Sort(out)
		return out
	}
	for _, step := range []struct {
		name    string
		do      func()
		want    []string
		warning string
	}{
		{name: "installed", do: func() {}, want: arcs(1, "a false")},
		{name: "an upgrade is under way", do: func() {
			put(t, c, helmSecret(namespace, "pending-upgrade", 2, packed("pending-upgrade", 2, "a", "b")))
		}, want: arcs(1, "a false")},
		{name: "upgraded", do: func() {
			put(t, c, helmSecret(namespace, "superseded", 1, packed("superseded", 1, "a")))
			put(t, c, helmSecret(namespace, "deployed", 2, packed("deployed", 2, "a", "b")))
		}, want: arcs(2, "a false", "b false")},
		{name: "an upgrade failed", do: func() {
			put(t, c, helmSecret(namespace, "failed", 3, packed("failed", 3, "c")))
		}, want: arcs(2, "a false", "b false")},
		{name: "rolled back, and the old revision left deployed", do: func() {
			put(t, c, helmSecret(namespace, "deployed", 4, packed("deployed", 4, "a", "missing")))
		}, want: arcs(4, "a false", "missing true")},
		{name: "the newest is deleted", do: func() {
			remove(t, c, helmSecret(namespace, "", 4, nil))
		}, want: arcs(2, "a false", "b false")},
		{name: "corrupted", do: func() {
			put(t, c, helmSecret(namespace, "deployed", 2, []byte("!"+helmCanary)))
		}, warning: "the release is not base64"},
		{name: "a bomb", do: func() {
			bomb := zipped(t, bytes.Repeat([]byte{'0'}, 40<<20))
			put(t, c, helmSecret(namespace, "deployed", 2, []byte(base64.StdEncoding.EncodeToString(bomb))))
		}, warning: "more than 16777216 bytes that one Helm release takes once it is unpacked, or while it is read"},
		{name: "mended", do: func() {
			put(t, c, helmSecret(namespace, "deployed", 2, packed("deployed", 2, "b")))
		}, want: arcs(2, "b false")},
		{name: "without a label, the release says", do: func() {
			unlabelled := helmSecret(namespace, "", 2, packed("uninstalled", 2, "b"))
			unlabelled.Labels = nil
			put(t, c, unlabelled)
		}},
		{name: "reinstalled", do: func() {
			put(t, c, helmSecret(namespace, "deployed", 5, packed("deployed", 5, "a")))
		}, want: arcs(5, "a false")},
		{name: "uninstalled", do: func() {
			if err := c.DeleteAllOf(t.Context(), &corev1.Secret{}, client.InNamespace(namespace)); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		step.do()
		eventually(t, 30*time.Second, func() string {
			want, err := oracle.Build(t.Context(), cluster.Config(), v)
			if err != nil {
				t.Fatal(err)
			}
			if d := f.Differs(want); d != "" {
				return step.name + " (-oracle +client): " + d
			}
			if got := f.managed(); !slices.Equal(got, step.want) {
				return fmt.Sprintf("%s: got %v, want %v", step.name, got, step.want)
			}
			warned := f.warned()
			if strings.Contains(warned, "OBJECT_PROCESSING_FAILED") != (step.warning != "") || !strings.Contains(warned, step.warning) {
				return fmt.Sprintf("%s: warnings %s, want one that %q", step.name, warned, step.warning)
			}
			return ""
		})
		status := view.Status()
		if text := fmt.Sprint(status, f.warned()); strings.Contains(text, helmCanary) {
			t.Errorf("%s: content is told: %s", step.name, text)
		}
	}
}

// TestHelmReleasesOfSeveralViews: views that see the same releases through other
// watches have the same arcs, which stay when one of them ends, and go with the
// last.
func TestHelmReleasesOfSeveralViews(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	namespace := newNamespace(t, c)
	data := []byte(base64.StdEncoding.EncodeToString(helmPacked(t, namespace, "deployed", helmChart(namespace, "a"), 1)))
	put(t, c, helmSecret(namespace, "deployed", 1, data))
	here, labelled, everywhere, without := withReleases(namespace), withReleases(namespace), withReleases(namespace), withReleases(namespace)
	labelled.Queries[0].Include.Object.LabelSelector = ""
	labelled.Queries = slices.Insert(labelled.Queries, 0, oracle.Query{Include: &oracle.Include{
		ResourceSelectorExpression: "resource == 'secrets'", Object: oracle.Filter{LabelSelector: "owner=helm", ObjectSelectorExpression: "name.startsWith('sh.helm')"},
	}})
	everywhere.Namespaces = &oracle.Namespaces{ObjectSelectorExpression: fmt.Sprintf("name == %q", namespace)}
	without.Queries = slices.Insert(without.Queries, 0, oracle.Query{Include: &oracle.Include{
		ResourceSelectorExpression: "resource == 'secrets'", Object: oracle.Filter{FieldSelector: "type!=helm.sh/release.v1"},
	}})
	views := map[string]oracle.View{"here": here, "labelled": labelled, "everywhere": everywhere, "without": without}

	engine := runEngine(t, graphview.Options{})
	followers := map[string]*graphFollower{}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for _, name := range slices.Sorted(maps.Keys(views)) {
		if err := engine.Apply(t.Context(), graphview.Name{Namespace: namespace, Name: name}, name, specOf(t, views[name])); err != nil {
			t.Fatal(err)
		}
		view, _ := engine.View(graphview.Name{Namespace: namespace, Name: name})
		followers[name] = follow(ctx, view)
	}
	same := func(names ...string) {
		t.Helper()
		wanted := map[string]oracle.View{}
		for _, name := range names {
			wanted[name] = views[name]
		}
		agree(t, wanted, func(name string, want oracle.Graph) string {
			if d := followers[name].Differs(want); d != "" {
				return d
			}
			if got := len(followers[name].managed()); (got == 3) != (name != "without") {
				return fmt.Sprintf("%d arcs", got)
			}
			return ""
		})
	}
	same("here", "labelled", "everywhere", "without")
	// Other watches take over, of the releases too.
	labelled.Queries[0].Include.Object.LabelSelector = "name=web"
	views["labelled"] = labelled
	if err := engine.Apply(t.Context(), graphview.Name{Namespace: namespace, Name: "labelled"}, "labelled", specOf(t, labelled)); err != nil {
		t.Fatal(err)
	}
	same("labelled")
	engine.Remove(graphview.Name{Namespace: namespace, Name: "here"})
	engine.Remove(graphview.Name{Namespace: namespace, Name: "everywhere"})
	changed := helmSecret(namespace, "deployed", 1, data)
	changed.Annotations = map[string]string{"again": "yes"}
	put(t, c, changed)
	same("labelled", "without")
	engine.Remove(graphview.Name{Namespace: namespace, Name: "labelled"})
	engine.Remove(graphview.Name{Namespace: namespace, Name: "without"})
	stop()
	for _, f := range followers {
		<-f.done
	}
	eventually(t, 10*time.Second, func() string {
		if n, size := engine.Watches(), engine.Size(); n != 0 || size.Nodes+size.Slots+size.Arcs != 0 {
			return fmt.Sprintf("%d watches and %+v are left", n, size)
		}
		return ""
	})
}

// lines keeps what is logged.
type lines struct {
	mu  sync.Mutex
	all strings.Builder
}

func (l *lines) add(prefix, args string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintln(&l.all, prefix, args)
}

func (l *lines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

// TestHelmReleasesStaySecret: nothing of a release but what it manages is in any
// message, status or line of the log, however much is logged.
func TestHelmReleasesStaySecret(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	namespace := newNamespace(t, c)
	release := helmPacked(t, namespace, "deployed", helmChart(namespace, "a"), 1)
	put(t, c, helmSecret(namespace, "deployed", 1, []byte(base64.StdEncoding.EncodeToString(release))))
	for i, broken := range []string{
		"!" + helmCanary,
		base64.StdEncoding.EncodeToString([]byte(helmCanary)),
		base64.StdEncoding.EncodeToString(release[:len(release)/2]),
		base64.StdEncoding.EncodeToString(zipped(t, []byte(`{"info":{"status":"deployed"},"manifest":"{`+helmCanary+`: ["}`))),
	} {
		put(t, c, helmSecret(namespace, "deployed", i+2, []byte(broken)))
	}
	var said lines
	log := funcr.New(said.add, funcr.Options{Verbosity: 10})
	engine := runEngine(t, graphview.Options{Logger: log})
	view := mustApply(t, engine, "releases", withReleases(namespace))
	subscription := view.Subscribe(delivery.SubscribeOptions{})
	defer subscription.Close()
	var messages strings.Builder
	for !strings.Contains(messages.String(), `"synced":true`) || strings.Count(messages.String(), "the release") < 4 {
		frames, err := subscription.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, frame := range frames {
			messages.Write(frame.JSON)
		}
	}
	texts := map[string]string{"messages": messages.String(), "status": fmt.Sprintf("%+v", view.Status()), "log": said.text()}
	for where, text := range texts {
		if len(text) < 100 {
			t.Errorf("%s is only %q", where, text)
		}
		for _, form := range []string{helmCanary, base64.StdEncoding.EncodeToString([]byte(helmCanary))[:20], base64.StdEncoding.EncodeToString(release)[:40]} {
			if at := strings.Index(text, form); at >= 0 {
				t.Errorf("%s: …%.200s", where, text[max(0, at-100):])
			}
		}
	}
}

// TestHelmUpgradeKeepsTheGraph: through upgrades, a failed one, a rollback and the end of a
// release's history, subscribers get no deletion of objects that all revisions manage.
func TestHelmUpgradeKeepsTheGraph(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	namespace := newNamespace(t, c)
	packed := func(status string, revision int, names ...string) []byte {
		return []byte(base64.StdEncoding.EncodeToString(helmPacked(t, namespace, status, helmChart(namespace, names...), revision)))
	}
	for _, name := range []string{"kept", "old", "new"} {
		put(t, c, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}})
	}
	mark := func(revision int, status string, names ...string) {
		put(t, c, helmSecret(namespace, status, revision, packed(status, revision, names...)))
	}
	mark(1, "deployed", "kept", "old")
	v := withReleases(namespace)
	v.Roots = &oracle.Roots{ObjectSelectorExpressions: []string{
		"resource == 'secrets' && labels.owner == 'helm' && labels.name == 'web' && labels.status in ['deployed', 'pending-upgrade', 'pending-rollback']",
	}}
	engine := runEngine(t, graphview.Options{})
	view := mustApply(t, engine, "release", v)
	ctx, stop := context.WithCancel(t.Context())
	var deleted strings.Builder
	s := subscriber.New()
	s.Heard = func(text []byte) error {
		// The part before the first separator is not a deletion.
		for _, part := range strings.Split(string(text), `{"dvx":`)[1:] {
			before, _, _ := strings.Cut(part, "}")
			deleted.WriteString(before + "\n")
		}
		return nil
	}
	// Each step waits for this subscriber. A subscriber that is behind gets the net change only.
	f := followSubscription(ctx, s, view.Subscribe(delivery.SubscribeOptions{}))
	becomes(t, f, v)
	for _, step := range []func(){
		func() { mark(2, "pending-upgrade", "kept", "new") },
		func() { mark(1, "superseded", "kept", "old"); mark(2, "deployed", "kept", "new") },
		func() { mark(3, "pending-upgrade", "kept"); mark(3, "failed", "kept") },
		func() {
			mark(4, "pending-rollback", "kept", "old")
			mark(2, "superseded", "kept", "new")
			mark(4, "deployed", "kept", "old")
		},
		func() {
			for _, revision := range []int{1, 2, 3} {
				remove(t, c, helmSecret(namespace, "", revision, nil))
			}
		},
	} {
		step()
		becomes(t, f, v)
	}
	stop()
	<-f.done
	if all := deleted.String(); strings.Contains(all, `"kept"`) || !strings.Contains(all, `"old"`) {
		t.Errorf("deleted were:\n%s", all)
	}
}

package local

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"graphview.dev/client"
	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/patience"
)

// within bounds a command. It is no expectation.
const within = 2 * time.Minute

// person is a user of the matrix.
type person struct {
	name   string
	config *rest.Config
	// flags of kubectl, and the identity that they stand for.
	flags []string
	as    *rest.Config
}

func people() map[string]person {
	of := func(name string, config *rest.Config) person { return person{name: name, config: config, as: config} }
	all := map[string]person{"admin": of("admin", cluster.Config())}
	for _, name := range []string{"none", "narrow", "one", "two", "reader"} {
		all[name] = of(name, cluster.ClientConfig(name))
	}
	all["impersonated"] = person{name: "impersonated", config: cluster.Config(), flags: []string{"--as=two"}, as: cluster.ClientConfig("two")}
	return all
}

// run runs the plugin as a person, with a kubeconfig that has a namespace where that is not empty.
func (p person) run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience.For(within))
	defer cancel()
	// Without kubectl, which takes as long to become the plugin as most answers do.
	command := exec.CommandContext(ctx, filepath.Join(folder, "kubectl-graphview"), slices.Concat(args, p.flags)...)
	command.Env = fixture.Shell(t, cluster, p.config, folder)
	return fixture.Run(t, command)
}

// listed are the objects that the person lists in namespaces, as kubectl get does, by the keys of
// graphs. The kinds that --local leaves out are not among them.
func (p person) listed(t *testing.T, namespaces ...string) []string {
	t.Helper()
	config := rest.CopyConfig(p.as)
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	documents, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := metadata.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	groups, err := documents.ServerPreferredNamespacedResources()
	if err != nil {
		t.Fatal(err)
	}
	leftOut := []string{"coordination.k8s.io", "events.k8s.io"}
	found := map[string]bool{}
	for _, group := range groups {
		version, err := schema.ParseGroupVersion(group.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, resource := range group.APIResources {
			if slices.Contains(leftOut, version.Group) || resource.Name == "events" || resource.Name == "endpoints" || !slices.Contains(resource.Verbs, "watch") {
				continue
			}
			for _, namespace := range namespaces {
				list, err := objects.Resource(version.WithResource(resource.Name)).Namespace(namespace).List(t.Context(), metav1.ListOptions{})
				if apierrors.IsForbidden(err) {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				for i := range list.Items {
					found[client.Key{Group: version.Group, Resource: resource.Name, Namespace: namespace, Name: list.Items[i].Name}.String()] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// graphIn reads the output of get or of query -o json.
func graphIn(t *testing.T, text string) *client.Graph {
	t.Helper()
	var m client.Message
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	g := &client.Graph{}
	g.Apply(&m)
	return g
}

func keysOf(g *client.Graph) []string {
	var keys []string
	for key := range g.Vertices {
		keys = append(keys, key.String())
	}
	slices.Sort(keys)
	return keys
}

// TestUsers: each command shows a user what kubectl get shows the same user.
func TestUsers(t *testing.T) {
	for name, p := range people() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := p.listed(t, "red", "blue")
			if len(want) == 0 {
				for _, args := range [][]string{{"tree"}, {"get"}, {"query"}, {"impact", "cm/web"}, {"explain", "cm/web"}, {"problems"}, {"watch"}, {"dashboard", "--no-open"}, {"mcp"}} {
					_, stderr, code := p.run(t, append(args, "--local", "-n", "red,blue")...)
					wantCode := 1
					if args[0] == "problems" {
						wantCode = 3
					}
					if code != wantCode || !strings.Contains(stderr, "you may list nothing in the namespaces") {
						t.Errorf("%s: exit code %d, want %d: %s", args[0], code, wantCode, stderr)
					}
				}
				return
			}
			p.shows(t, want)
			p.follows(t, want)
		})
	}
}

// shows compares what commands show with the objects that the person lists in both namespaces.
func (p person) shows(t *testing.T, want []string) {
	t.Helper()
	scope := []string{"--local", "-n", "red,blue"}
	for _, args := range [][]string{{"get", "-o", "json"}, {"query", "-o", "json"}} {
		stdout, stderr, code := p.run(t, append(args, scope...)...)
		if code != 0 {
			t.Fatalf("%s: exit code %d: %s", args[0], code, stderr)
		}
		g := graphIn(t, stdout)
		if diff := cmp.Diff(want, keysOf(g)); diff != "" {
			t.Errorf("%s (-kubectl +graph):\n%s", args[0], diff)
		}
		// References to kinds that may not be listed remain.
		if at, ok := arcTo(g, "secrets", "token"); slices.Contains(want, "pods/red/web-0") && (!ok || at.Missing != !slices.Contains(want, "secrets/red/token")) {
			t.Errorf("%s: the reference to the Secret: %+v, there is one: %t", args[0], at, ok)
		}
	}
	stdout, stderr, code := p.run(t, append([]string{"tree", "--all"}, scope...)...)
	if text := fmt.Sprintf("\n%d objects, ", len(want)); code != 0 || !strings.Contains(stdout, text) {
		t.Errorf("tree: exit code %d, want %q in:\n%s%s", code, text, stdout, stderr)
	}
	for _, args := range [][]string{{"explain", "pod/mailer"}, {"impact", "statefulset/web"}} {
		stdout, stderr, code = p.run(t, append(args, scope...)...)
		if code != 0 || !strings.Contains(stdout, "mailer") && !strings.Contains(stdout, "Pod ×2") {
			t.Errorf("%s: exit code %d: %s%s", args[0], code, stdout, stderr)
		}
	}
	stdout, stderr, code = p.run(t, append([]string{"problems", "-o", "json"}, scope...)...)
	var report struct {
		Complete bool
		Problems []struct{ Kind, Namespace, Name, State string }
	}
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || !report.Complete {
		t.Errorf("problems: %v: %s%s", err, stdout, stderr)
	}
	// That the ConfigMap is missing is known only to users who may list ConfigMaps.
	knows := slices.Contains(want, "configmaps/red/web")
	missing := false
	for _, problem := range report.Problems {
		missing = missing || problem.Kind == "ConfigMap" && problem.Name == "mailer" && problem.State == "missing"
	}
	if wantCode := map[bool]int{true: 1, false: 0}[knows]; missing != knows || code != wantCode {
		t.Errorf("problems: missing %t, exit code %d, want %t, %d", missing, code, knows, wantCode)
	}
}

// follows compares what the commands that go on show with the objects that the person lists: the page,
// watch, and the tool tree of an agent.
func (p person) follows(t *testing.T, want []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience.For(within)) // the commands are ended in order
	t.Cleanup(cancel)
	shown := p.open(ctx, t, "red", "blue")
	shown.until(t, func() bool { return shown.Synced })
	if diff := cmp.Diff(want, keysOf(&shown.Graph)); diff != "" {
		t.Errorf("dashboard (-kubectl +page):\n%s", diff)
	}
	watching := p.start(ctx, t, "watch", "-o", "json", "--local", "-n", "red,blue")
	followed := &page{read: func() ([]byte, error) { return watching.out.ReadBytes('\n') }}
	followed.until(t, func() bool { return followed.Synced })
	if diff := cmp.Diff(want, keysOf(&followed.Graph)); diff != "" {
		t.Errorf("watch (-kubectl +graph):\n%s", diff)
	}
	watching.interrupt(t)
	text, isError := call(ctx, t, p.agent(ctx, t), "tree", map[string]any{"graph": "local"})
	if isError || !strings.Contains(text, fmt.Sprintf("\n%d objects, ", len(want))) {
		t.Errorf("mcp: want %d objects in:\n%s", len(want), text)
	}
}

// arcTo returns an arc from a pod of red to an object.
func arcTo(g *client.Graph, resource, name string) (client.Attributes, bool) {
	for arc, a := range g.Arcs {
		if arc.From.Resource == "pods" && arc.From.Namespace == "red" && arc.To.Resource == resource && arc.To.Name == name {
			return a, true
		}
	}
	return client.Attributes{}, false
}

// TestScope: without -n the view is of the namespace of the kubeconfig, or of all that the user may see.
func TestScope(t *testing.T) {
	in := func(p person, namespace string) person {
		file := filepath.Join(t.TempDir(), "kubeconfig")
		if err := env.WriteKubeconfig(file, p.config); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "context:") {
			t.Fatalf("no context in\n%s", text)
		}
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(text), "context:\n", "context:\n    namespace: "+namespace+"\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		p.flags = append(p.flags, "--kubeconfig="+file)
		return p
	}
	all := people()
	tests := map[string]struct {
		person   person
		args     []string
		want     string // on standard error
		wantCode int
	}{
		"the namespace of the context":         {person: in(all["one"], "red"), want: "in namespace red; -A shows all namespaces"},
		"no namespace, all may be listed":      {person: all["reader"], want: "in all namespaces; -n a,b narrows it"},
		"no namespace, none may be listed":     {person: all["two"], want: `you may list nothing in namespace "default"`, wantCode: 1},
		"all namespaces without the right":     {person: all["two"], args: []string{"-A"}, want: "you may not list namespaces", wantCode: 1},
		"candidates in the kubeconfig":         {person: in(all["two"], "red"), args: []string{"-A"}, want: "Your kubeconfig names red", wantCode: 1},
		"-A with the namespace of the object":  {person: all["admin"], args: []string{"-A", "-n", "red", "pod/mailer"}, want: "in all namespaces"},
		"a namespace that does not exist":      {person: all["admin"], args: []string{"-n", "nosuch"}, want: `namespace "nosuch" not found`, wantCode: 1},
		"an empty name in a list":              {person: all["admin"], args: []string{"-n", "red,,blue"}, want: "expected names of namespaces", wantCode: 2},
		"a namespace without a single problem": {person: all["admin"], args: []string{"-n", "empty"}, want: "in namespace empty"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, stderr, code := tt.person.run(t, append([]string{"tree", "--local"}, tt.args...)...)
			if code != tt.wantCode || !strings.Contains(stderr, tt.want) {
				t.Errorf("exit code %d, want %d, and %q in:\n%s", code, tt.wantCode, tt.want, stderr)
			}
		})
	}
}

package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	kube "sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/client"
	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
)

// TestImpact: what the server calls deleted, and not held, is what the control plane deletes.
func TestImpact(t *testing.T) {
	reader, err := client.New(cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(reader.CloseIdleConnections)
	config := cluster.Config()
	config.WarningHandler = rest.NoWarnings{} // of Endpoints, which every namespace has
	// kubectl takes a minute of processor time to apply these objects and to look at them.
	api := fixture.Client(t, config)
	all := questions()
	shareWatches(t, all)
	makeSamples(t, api, all)
	var before map[*question]map[string]string
	eventually(t, func() string {
		before = uidsOf(t, api, all)
		var wrong strings.Builder
		for _, q := range all {
			if len(before[q]) != madeObjects[q.sample] {
				fmt.Fprintln(&wrong, q, "not made yet:", slices.Sorted(maps.Keys(before[q])))
			}
		}
		return wrong.String()
	})
	said := map[*question]map[string]bool{}
	for _, q := range all {
		said[q] = q.ask(t, reader, before[q])
	}
	if t.Failed() {
		return
	}
	for _, q := range all {
		if q.installer == "" || q.installer == "helm" {
			q.delete(t, api, before[q])
		} else {
			said[q] = nil // the control plane of the tests does not have the installer
		}
	}
	// The second round waits for late deletions. Each check lists all kinds, and namespaces take a minute.
	for range 2 {
		fixture.Eventually(t, within, time.Second, func() string {
			after := uidsOf(t, api, all)
			var wrong strings.Builder
			for _, q := range all {
				really := map[string]bool{}
				for k, uid := range before[q] {
					if after[q][k] != uid {
						really[k] = true
					}
				}
				if diff := cmp.Diff(said[q], really); diff != "" && said[q] != nil {
					wrong.WriteString(q.String() + " (-said +deleted):\n" + diff)
				}
			}
			return wrong.String()
		})
	}
	compareTable(t, all, said)
}

// shareWatches declares a view of all namespaces. Requests share its watches: without it, the operator
// lists and watches thirty resources of a namespace for each question.
func shareWatches(t *testing.T, all []*question) {
	t.Helper()
	spec, err := json.Marshal(map[string]any{"queries": all[0].spec().Queries})
	if err != nil {
		t.Fatal(err)
	}
	fixture.ApplyForTest(t, cluster, `{apiVersion: graphview.dev/v1alpha1, kind: GraphView, metadata: {name: impact}, spec: `+string(spec)+`}`)
	fixture.Kubectl(t, cluster, "wait", "--for=condition=Ready", "graphview/impact", fixture.Timeout())
}

// compareTable compares the table in docs/measured/plugin.md with what the control plane did, or writes it.
func compareTable(t *testing.T, all []*question, said map[*question]map[string]bool) {
	t.Helper()
	var rows strings.Builder
	rows.WriteString("| sample | deletion of | deleted | breaks now | cannot start again | loses an optional reference | the control plane |\n|---|---|---|---|---|---|---|\n")
	for _, q := range all {
		really := fmt.Sprintf("deleted %d", len(said[q]))
		switch {
		case said[q] == nil:
			really = q.installer + " was not run"
		case q.held > 0:
			really += fmt.Sprintf(", holds %d", q.want[0]-len(said[q]))
		}
		what := "`" + strings.TrimSuffix(q.object, "/") + "`"
		if q.policy != "" {
			what += ", " + strings.ToLower(q.policy)
		}
		fmt.Fprintf(&rows, "| %s | %s | %d | %d | %d | %d | %s |\n", q.sample, what, q.want[0], q.want[1], q.want[2], q.want[3], really)
	}
	const start, end = "<!-- deletions:start, written by go test ./test/plugin -run TestImpact -update -->\n", "<!-- deletions:end -->"
	file := filepath.Join("..", "..", "docs", "measured", "plugin.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), start)
	table, after, ends := strings.Cut(rest, end)
	if !found || !ends {
		t.Fatalf("%s has no place for the table", file)
	}
	if *update {
		if err := os.WriteFile(file, []byte(before+start+rows.String()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(table, rows.String()); diff != "" {
		t.Errorf("%s (-has +is):\n%s", file, diff)
	}
}

// ask compares the answer with what the question wants, and returns what must be deleted.
func (q *question) ask(t *testing.T, reader *client.Client, made map[string]string) map[string]bool {
	t.Helper()
	var gone map[string]bool
	check := func() string {
		found, err := reader.RequestImpact(t.Context(), q.spec(), q.key(made), q.policy, client.Options{})
		if err != nil {
			return q.String() + ": " + err.Error()
		}
		gone = map[string]bool{}
		var got [4]int
		held := 0
		for v, verdict := range []client.Verdict{client.Deleted, client.BreaksNow, client.CannotStart, client.LosesOptional} {
			got[v] = found.Counts[verdict]
		}
		for _, group := range found.Groups {
			if group.Verdict == client.Deleted && len(group.Holds) > 0 {
				held += len(group.Objects)
			} else if group.Verdict == client.Deleted {
				for _, k := range group.Objects {
					gone[textOf(k)] = true
				}
			}
		}
		if got != q.want || held != q.held {
			return cmp.Diff(q.want, got) + cmp.Diff(q.held, held) + q.String() + ": " + fmt.Sprint(found)
		}
		return ""
	}
	// The watches may lag behind.
	if wrong := fixture.Wait(t.Context(), within, 300*time.Millisecond, check); wrong != "" {
		t.Error(wrong)
	}
	return gone
}

// delete deletes the object of the question, as its controllers do.
func (q *question) delete(t *testing.T, api kube.Client, made map[string]string) {
	t.Helper()
	key := q.key(made)
	kind, err := api.RESTMapper().KindFor(schema.GroupVersionResource{Group: key.Group, Resource: key.Resource})
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	object.SetNamespace(key.Namespace)
	object.SetName(key.Name)
	policy := metav1.DeletionPropagation(q.policy)
	if policy == "" {
		policy = metav1.DeletePropagationBackground // kubectl's default
	}
	if err := api.Delete(t.Context(), object, kube.PropagationPolicy(policy)); err != nil {
		t.Fatal(err)
	}
	if q.installer == "helm" {
		q.helm(t, "uninstall", "shop")
	}
}

// makeSamples makes the samples of all questions.
func makeSamples(t *testing.T, api kube.Client, all []*question) {
	t.Helper()
	for _, q := range all {
		q.read(t)
		t.Cleanup(func() { q.release(context.WithoutCancel(t.Context()), t, api) })
		for _, object := range q.objects {
			q.setOwners(t, api, object)
			eventually(t, func() string { // a definition before the object may not be served yet
				err := api.Create(t.Context(), object)
				if err != nil {
					return err.Error()
				}
				return ""
			})
		}
		if len(q.chart.Files) > 0 {
			q.install(t)
		}
	}
}

// setOwners sets the UIDs in references to owners, which are earlier objects of the sample.
func (q *question) setOwners(t *testing.T, api kube.Client, object *unstructured.Unstructured) {
	t.Helper()
	owners := object.GetOwnerReferences()
	for i := range owners {
		owner := &metav1.PartialObjectMetadata{}
		owner.SetGroupVersionKind(schema.FromAPIVersionAndKind(owners[i].APIVersion, owners[i].Kind))
		if err := api.Get(t.Context(), kube.ObjectKey{Namespace: q.namespace, Name: owners[i].Name}, owner); err != nil {
			t.Fatal(err)
		}
		owners[i].UID = owner.UID
	}
	object.SetOwnerReferences(owners)
}

// install installs the chart of a sample with Helm.
func (q *question) install(t *testing.T) {
	t.Helper()
	files, err := txtar.FS(&q.chart)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.CopyFS(folder, files); err != nil {
		t.Fatal(err)
	}
	q.helm(t, "install", "shop", folder)
}

func (q *question) helm(t *testing.T, args ...string) {
	t.Helper()
	root, err := env.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := env.WriteKubeconfig(kubeconfig, cluster.Config()); err != nil {
		t.Fatal(err)
	}
	if out, err := fixture.Helm(t, root, append(args, "-n", q.namespace, "--kubeconfig", kubeconfig)...).CombinedOutput(); err != nil {
		t.Fatalf("helm %v: %v\n%s", args, err, out)
	}
}

// release removes the finalizers that no controller of the tests removes.
func (q *question) release(ctx context.Context, t *testing.T, api kube.Client) {
	t.Helper()
	for _, object := range q.objects {
		if len(object.GetFinalizers()) == 0 {
			continue
		}
		patch := kube.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
		// The object may be deleted already.
		if err := kube.IgnoreNotFound(api.Patch(ctx, object, patch)); err != nil {
			t.Error(err)
		}
	}
}

package plugin

import (
	"context"
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
	all := questions()
	makeSamples(t, all)
	var before map[*question]map[string]string
	eventually(t, func() string {
		before = uidsOf(t, all)
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
			q.delete(t, before[q])
		} else {
			said[q] = nil // the control plane of the tests does not have the installer
		}
	}
	// The second round waits for late deletions.
	for range 2 {
		eventually(t, func() string {
			after := uidsOf(t, all)
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
	if wrong := fixture.Wait(t.Context(), 10*time.Second, 300*time.Millisecond, check); wrong != "" {
		t.Error(wrong)
	}
	return gone
}

// delete deletes the object of the question, as its controllers do.
func (q *question) delete(t *testing.T, made map[string]string) {
	t.Helper()
	key := q.key(made)
	args := []string{"delete", "--wait=false", resourceOf(key), key.Name}
	if key.Namespace != "" {
		args = append(args, "-n", key.Namespace)
	}
	if q.policy != "" {
		args = append(args, "--cascade="+strings.ToLower(q.policy))
	}
	if _, err := cluster.Kubectl(t.Context(), args...); err != nil {
		t.Fatal(err)
	}
	if q.installer == "helm" {
		q.helm(t, "uninstall", "shop")
	}
}

// makeSamples applies the samples of all questions: at first what needs no other object's UID.
func makeSamples(t *testing.T, all []*question) {
	t.Helper()
	needsUID := func(document string) bool { return strings.Contains(document, "UID-OF") }
	var first []string
	for _, q := range all {
		q.read(t)
		first = append(first, slices.DeleteFunc(slices.Clone(q.documents), needsUID)...)
	}
	apply(t, strings.Join(first, "---\n"))
	for _, q := range all {
		t.Cleanup(func() { q.release(context.WithoutCancel(t.Context()), t) })
		for _, document := range q.documents {
			if !needsUID(document) {
				continue
			}
			for k, uid := range uidsOf(t, []*question{q})[q] {
				resource, rest, _ := strings.Cut(k, "/")
				_, name, _ := strings.Cut(rest, "/")
				document = strings.ReplaceAll(document, "UID-OF "+resource+"/"+name+",", uid+",")
				document = strings.ReplaceAll(document, "UID-OF "+resource+"/"+name+"}", uid+"}")
			}
			apply(t, document)
		}
		if len(q.chart.Files) > 0 {
			q.install(t)
		}
	}
}

// apply applies documents; a definition in them may not be served yet.
func apply(t *testing.T, documents string) {
	t.Helper()
	eventually(t, func() string {
		if err := fixture.TryApply(t, cluster, documents); err != nil {
			return err.Error()
		}
		return ""
	})
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
func (q *question) release(ctx context.Context, t *testing.T) {
	t.Helper()
	for sample, objects := range map[string][]string{
		"shop": {"configmaps/held"}, "held dependent": {"configmaps/dependent"},
		"installers": {"kustomizations.kustomize.toolkit.fluxcd.io/pruning", "applications.argoproj.io/cascading"},
		"release":    {"helmreleases.helm.toolkit.fluxcd.io/shop"},
	} {
		if sample != q.sample {
			continue
		}
		for _, object := range objects {
			// The object may be deleted already.
			if _, err := cluster.Kubectl(ctx, "-n", q.namespace, "patch", object, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`); err != nil {
				t.Log(err)
			}
		}
	}
}

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

	"github.com/google/go-cmp/cmp"

	"graphview.dev/client"
)

// deletions are the objects that TestImpact deletes, with the verdicts that it counts: deleted,
// breaks now, cannot start again, loses an optional reference. "NS" is the namespace.
var deletions = map[string][4]int{
	"configmaps//settings": {1, 0, 4, 0}, "configmaps//extra": {1, 0, 0, 4}, "configmaps//held": {1, 0, 0, 0},
	"secrets//token": {1, 0, 4, 0}, "secrets//tls": {1, 1, 0, 0}, "secrets//web-token": {1, 0, 0, 0},
	"serviceaccounts//web":                    {2, 2, 2, 0},
	"roles.rbac.authorization.k8s.io//reader": {1, 6, 0, 0}, "rolebindings.rbac.authorization.k8s.io//readers": {1, 5, 0, 0},
	"deployments.apps//web": {4, 2, 0, 0}, "replicasets.apps//": {3, 2, 0, 0}, "statefulsets.apps//db": {3, 1, 0, 0},
	"daemonsets.apps//agent": {2, 0, 0, 0}, "jobs.batch//once": {2, 0, 0, 0}, "cronjobs.batch//nightly": {1, 0, 0, 0},
	"services//web": {3, 1, 0, 0}, "services//db": {3, 2, 0, 0}, "ingresses.networking.k8s.io//web": {1, 0, 0, 0},
	"poddisruptionbudgets.policy//web": {1, 0, 0, 0}, "pods//db-0": {1, 1, 0, 0},
	"storageclasses.storage.k8s.io/": {1, 0, 2, 0}, "ingressclasses.networking.k8s.io/": {1, 1, 0, 0}, "namespaces/": {33, 0, 0, 0},
}

// impactKinds are the resources that are looked at.
var impactKinds = map[string][]string{
	"":     {"pods", "configmaps", "secrets", "serviceaccounts", "services", "endpoints", "persistentvolumeclaims", "namespaces"},
	"apps": {"deployments", "replicasets", "statefulsets", "daemonsets", "controllerrevisions"}, "batch": {"jobs", "cronjobs"},
	"networking.k8s.io": {"ingresses", "ingressclasses"}, "discovery.k8s.io": {"endpointslices"}, "policy": {"poddisruptionbudgets"},
	"rbac.authorization.k8s.io": {"roles", "rolebindings"}, "storage.k8s.io": {"storageclasses"},
}

// TestImpact: what the server calls deleted, and not held, is what the control plane deletes.
func TestImpact(t *testing.T) {
	reader, err := client.New(cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(reader.CloseIdleConnections)
	sample, err := os.ReadFile(filepath.Join("testdata", "impact.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	names := slices.Sorted(maps.Keys(deletions))
	var all strings.Builder
	for i := range names {
		all.WriteString("---\n" + strings.ReplaceAll(string(sample), "NS", fmt.Sprint("impact-", i)))
	}
	file := filepath.Join(t.TempDir(), "all.yaml")
	if err := os.WriteFile(file, []byte(all.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := cluster.Kubectl(t.Context(), "apply", "-f", file); err != nil {
		t.Fatal(err)
	}
	checks := map[string]func() string{}
	for i, name := range names {
		where := fmt.Sprint("impact-", i)
		var before map[string]string
		eventually(t, func() string {
			if before = uids(t, where); countOf(before, "pods/") != 4 || countOf(before, "persistentvolumeclaims/") != 1 || countOf(before, "endpointslices") != 2 ||
				countOf(before, "kube-root-ca.crt") != 1 || countOf(before, "controllerrevisions") != 2 || countOf(before, "endpoints/") != 2 {
				return fmt.Sprint("not made yet: ", before)
			}
			return ""
		})
		key := impactKey(name, where, before)
		found, err := reader.RequestImpact(t.Context(), impactRequest(where), key, "", client.Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got [4]int
		for v := range got {
			got[v] = found.Counts[client.Verdicts[v]]
		}
		t.Logf("%s: %v", name, got)
		if want := deletions[name]; got != want {
			t.Errorf("%s: counts %v, want %v: %s", name, got, want, found.JSON)
		}
		want := map[string]bool{}
		for _, group := range found.Groups {
			if group.Verdict == client.Deleted && len(group.Holds) == 0 {
				for _, k := range group.Objects {
					want[textOf(k)] = true
				}
			}
		}
		args := []string{"delete", "--wait=false", resourceOf(key), key.Name}
		if key.Namespace != "" {
			args = append(args, "-n", where)
		}
		if _, err := cluster.Kubectl(t.Context(), args...); err != nil {
			t.Fatal(err)
		}
		checks[name] = func() string {
			after := uids(t, where)
			gone := map[string]bool{}
			for k, uid := range before {
				if after[k] != uid {
					gone[k] = true
				}
			}
			if strings.HasPrefix(name, "namespaces/") {
				// The finalizer of one object holds its namespace.
				delete(want, "namespaces//"+where)
			}
			return cmp.Diff(want, gone)
		}
	}
	// What is deleted late is seen in the second round.
	for range 2 {
		for _, name := range names {
			eventually(t, func() string {
				if diff := checks[name](); diff != "" {
					return name + " (-said +deleted):\n" + diff
				}
				return ""
			})
		}
	}
	for i := range names {
		if _, err := cluster.Kubectl(context.WithoutCancel(t.Context()), "-n", fmt.Sprint("impact-", i), "patch", "configmap", "held", "-p", `{"metadata":{"finalizers":null}}`); err != nil {
			t.Log(err)
		}
	}
}

func resourceOf(k client.Key) string { return strings.TrimSuffix(k.Resource+"."+k.Group, ".") }

func textOf(k client.Key) string { return resourceOf(k) + "/" + k.Namespace + "/" + k.Name }

func countOf(all map[string]string, part string) (n int) {
	for k := range all {
		if strings.Contains("/"+k, "/"+part) || strings.HasSuffix(k, part) {
			n++
		}
	}
	return n
}

// impactKey is RESOURCE//NAME in the namespace, or RESOURCE/ for the object that has its name. The
// name of a ReplicaSet is found.
func impactKey(name, where string, all map[string]string) client.Key {
	resource, rest, _ := strings.Cut(name, "/")
	var k client.Key
	k.Resource, k.Group, _ = strings.Cut(resource, ".")
	k.Name = where
	if object, namespaced := strings.CutPrefix(rest, "/"); namespaced {
		k.Namespace, k.Name = where, object
	}
	for other := range all {
		if head, found := strings.CutPrefix(other, resource+"/"+where+"/"); found && k.Name == "" {
			k.Name = head
		}
	}
	return k
}

func impactRequest(where string) client.Request {
	var terms []string
	for group, resources := range impactKinds {
		terms = append(terms, fmt.Sprintf("(group == '%s' && resource in ['%s'])", group, strings.Join(resources, "', '")))
	}
	slices.Sort(terms)
	return client.Request{
		Queries:    []client.Query{{Include: &client.Include{ResourceSelectorExpression: strings.Join(terms, " || ")}}},
		Namespaces: &client.Namespaces{Names: []string{where}},
	}
}

// uids are those of the objects in a namespace, and of cluster-scoped objects with its name.
func uids(t *testing.T, where string) map[string]string {
	t.Helper()
	var resources []string
	for group, list := range impactKinds {
		for _, r := range list {
			if r != "namespaces" && r != "ingressclasses" && r != "storageclasses" {
				resources = append(resources, strings.TrimSuffix(r+"."+group, "."))
			}
		}
	}
	const form = `{range .items[*]}{.apiVersion} {.kind} {.metadata.namespace} {.metadata.name} {.metadata.uid}{"\n"}{end}`
	all := map[string]string{}
	out, err := cluster.Kubectl(t.Context(), "-n", where, "get", strings.Join(resources, ","), "-o", "jsonpath="+form)
	if err != nil {
		return all
	}
	add := func(text string) {
		for line := range strings.Lines(text) {
			f := strings.Fields(line)
			if len(f) == 4 { // of the cluster
				f = slices.Insert(f, 2, "")
			}
			if len(f) != 5 {
				continue
			}
			group, _, named := strings.Cut(f[0], "/")
			if !named {
				group = ""
			}
			kind := strings.ToLower(f[1])
			for _, r := range impactKinds[group] {
				if r == kind || strings.TrimSuffix(r, "s") == kind || strings.TrimSuffix(r, "es") == kind {
					all[strings.TrimSuffix(r+"."+group, ".")+"/"+f[2]+"/"+f[3]] = f[4]
				}
			}
		}
	}
	add(string(out))
	for _, r := range []string{"namespaces", "ingressclasses.networking.k8s.io", "storageclasses.storage.k8s.io"} {
		if out, err := cluster.Kubectl(t.Context(), "get", r, where, "--ignore-not-found", "-o", "jsonpath={.apiVersion} {.kind} {.metadata.name} {.metadata.uid}"); err == nil {
			add(string(out))
		}
	}
	return all
}

package gitops

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/installation"
)

// view is one GraphView and what is made of it.
type view struct {
	spec string
	// until is what to wait for: a jsonpath and its value.
	until       string
	wantArgoCD  string
	wantKStatus string
	wantMessage string
}

const twoKinds = `queries: [{include: {resourceSelectorExpression: "group == '' && resource in ['configmaps', 'serviceaccounts']"}}]
namespaces: {names: [shop]}`

var views = map[string]view{
	"ready": {twoKinds, `jsonpath={.status.conditions[?(@.type=="Ready")].status}=True`, "Healthy", "Current", ""},
	"incomplete": {`queries: [{include: {resourceSelectorExpression: "resource == 'configmaps'", object: {fieldSelector: "spec.unknown=1"}}}]`,
		`jsonpath={.status.conditions[?(@.type=="Complete")].status}=False`, "Healthy", "Current", "not everything can be read"},
	"misspelt": {`queries: [{include: {resourceSelectorExpression: "resource = 'configmaps'"}}]`,
		`jsonpath={.status.conditions[?(@.type=="Accepted")].status}=False`, "Degraded", "Failed", "syntax error"},
	"orphaned": {twoKinds + "\nserviceAccountName: nobody",
		`jsonpath={.status.conditions[?(@.type=="Accepted")].reason}=ServiceAccountNotFound`, "Degraded", "Failed", "nobody"},
	"large": {`queries: [{include: {resourceSelectorExpression: "group == 'rbac.authorization.k8s.io'"}}]`,
		`jsonpath={.status.conditions[?(@.type=="Ready")].reason}=LimitExceeded`, "Degraded", "Failed", "more than 30"},
}

func TestHealth(t *testing.T) {
	root, err := env.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	binary, err := fixture.Build(t.Context(), root, "manager", fixture.Race...)
	if err != nil {
		t.Fatal(err)
	}
	plane := env.StartT(t, env.Options{ControllerManager: true})
	kubectl := func(args ...string) []byte {
		t.Helper()
		return []byte(fixture.Kubectl(t, plane, args...))
	}
	manifests := kubectl("kustomize", filepath.Join(root, "config", "default"))
	operator, err := installation.Start(t.Context(), installation.Options{Plane: plane, Binary: binary, Manifests: manifests, Args: []string{"--max-vertices-per-view=30", "--require-service-account=false"}})
	if err != nil {
		t.Fatal(err)
	}
	kubectl("create", "namespace", "shop")
	var objects []json.RawMessage
	var names []string
	for name, v := range views {
		fixture.Apply(t, plane, "apiVersion: graphview.dev/v1alpha1\nkind: GraphView\nmetadata: {name: "+name+", namespace: shop}\nspec:\n  "+strings.ReplaceAll(v.spec, "\n", "\n  ")+"\n")
		kubectl("wait", "-n", "shop", "graphview/"+name, "--for="+v.until, fixture.Timeout())
	}
	// The last object is applied while the operator is stopped.
	if code := operator.Stop(t.Context()); code != 0 {
		t.Errorf("the operator ended with %d", code)
	}
	fixture.Apply(t, plane, `{apiVersion: graphview.dev/v1alpha1, kind: GraphView, metadata: {name: unseen, namespace: shop},
spec: {queries: [{include: {resourceSelectorExpression: "true"}}]}}`)
	wants := map[string]view{"unseen": {wantArgoCD: "Progressing", wantKStatus: "InProgress"}}
	maps.Copy(wants, views)
	for name := range wants {
		names = append(names, name)
		objects = append(objects, kubectl("get", "graphview", "-n", "shop", name, "-o", "json"))
	}
	for i, got := range judge(t, root, objects) {
		want := wants[names[i]]
		if got.Script.Status != want.wantArgoCD || !strings.Contains(got.Script.Message, want.wantMessage) {
			t.Errorf("%s: Argo CD says %s: %s", names[i], got.Script.Status, got.Script.Message)
		}
		if got.KStatus.Status != want.wantKStatus {
			t.Errorf("%s: kstatus says %s: %s", names[i], got.KStatus.Status, got.KStatus.Message)
		}
	}
}

var healthCheck = regexp.MustCompile(`(?ms)resource\.customizations\.health\.graphview\.dev_GraphView: \|\n(.*?)^` + "```")

// judge asks test/health/peers, with the script as the documentation has it.
func judge(t *testing.T, root string, objects []json.RawMessage) []fixture.Verdict {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "docs", "manifests.md"))
	if err != nil {
		t.Fatal(err)
	}
	match := healthCheck.FindSubmatch(page)
	if match == nil {
		t.Fatal("docs/manifests.md has no health check")
	}
	script := filepath.Join(t.TempDir(), "health.lua")
	if err := os.WriteFile(script, match[1], 0o600); err != nil {
		t.Fatal(err)
	}
	var verdicts []fixture.Verdict
	fixture.BuildHealthPeers(t).Run(t, &verdicts, objects, script)
	if len(verdicts) != len(objects) {
		t.Fatalf("%d verdicts of %d objects", len(verdicts), len(objects))
	}
	return verdicts
}

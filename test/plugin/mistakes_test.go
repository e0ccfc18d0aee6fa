package plugin

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"graphview.dev/test/fixture"
)

// mistake is something that an author mistypes, and what each command says of it.
type mistake struct {
	// spec is that of the GraphView; SA and QUERIES stand for right ones.
	spec string
	// refused is what the API server says; empty if it takes the spec.
	refused string
	// unaccepted is what the condition Accepted says; empty if the spec is accepted.
	unaccepted string
	// effect is what is said of a spec that is accepted and shows nothing.
	effect string
	// silent: the condition Effective may not say it.
	silent bool
	// validate is what the plugin says of the file.
	validate string
}

// mistakes are those of a first evaluation. Each was green, or refused without a hint, once.
var mistakes = map[string]mistake{
	"a misspelt field": {
		spec: "SA\nquerys: [{include: {resourceSelectorExpression: 'true'}}]", refused: `unknown field "spec.querys"`, validate: "querys",
	},
	"a field that roots do not have": {
		spec: "SA\nQUERIES\nroots: {labelSelector: app=env}", refused: `unknown field "spec.roots.labelSelector"`, validate: "labelSelector",
	},
	"a list of namespaces": {spec: "SA\nQUERIES\nnamespaces: [pay]", refused: "must be of type object", validate: "must be a map, is a list"},
	"a text for a query":   {spec: "SA\nqueries: [{include: \"kind == 'Pod'\"}]", refused: "must be of type object", validate: "must be a map"},
	"no spec":              {spec: "", refused: "spec", validate: "spec"},
	"a word for an arc type": {
		spec: "SA\nQUERIES\nroots: {objects: [{kind: Deployment}], ignoreArcDirection: [owner]}", refused: `supported values: "or", "r", "t"`, validate: `"or", "r", "t"`,
	},
	"one equals sign": {
		spec: "SA\nqueries: [{include: {resourceSelectorExpression: \"kind = 'ConfigMap'\"}}]", unaccepted: "== compares", validate: "== compares",
	},
	"an unknown variable": {
		spec: "SA\nqueries: [{include: {resourceSelectorExpression: \"resources == 'pods'\"}}]", unaccepted: "the variables are", validate: "the variables are",
	},
	"a misspelt ServiceAccount": {
		spec: "serviceAccountName: veiwer\nQUERIES", unaccepted: "veiwer", validate: `there is no ServiceAccount "veiwer" in namespace "mistakes"; did you mean 'viewer'?`,
	},
	"a singular resource": {
		spec: "SA\nqueries: [{include: {resourceSelectorExpression: \"resource == 'configmap'\"}}]", effect: "did you mean 'configmaps'?", validate: "did you mean 'configmaps'?",
	},
	"a misspelt namespace": {
		spec: "SA\nQUERIES\nnamespaces: {names: [mistaeks]}", effect: "there is no namespace 'mistaeks'", validate: "did you mean 'mistakes'?",
	},
	// Its ServiceAccount may not learn which namespaces there are.
	"a misspelt namespace without the right to list them": {
		spec: "serviceAccountName: narrow\nQUERIES\nnamespaces: {names: [mistaeks]}", silent: true, effect: "nothing that it selects exists, or you may not see it", validate: "did you mean 'mistakes'?",
	},
	"a kind in small letters": {
		spec: "SA\nQUERIES\nroots: {objects: [{kind: deployment, name: env}]}", effect: "did you mean 'Deployment'?", validate: "did you mean 'Deployment'?",
	},
	"a misspelt root": {
		spec: "SA\nQUERIES\nroots: {objects: [{kind: Deployment, name: evn}]}", effect: "the queries select no Deployment", validate: "no selected object has the name 'evn'; did you mean 'env'?",
	},
	"a misspelt label": {
		spec: "SA\nQUERIES\nroots: {objectSelectorExpressions: [\"labels.ap == 'env'\"]}", effect: "no object is a root", validate: "no selected object has the label 'ap'; did you mean 'app'?",
	},
}

const mistakesSetting = `apiVersion: v1
kind: Namespace
metadata: {name: mistakes}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: viewer, namespace: mistakes}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: mistakes-viewer}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{kind: ServiceAccount, name: viewer, namespace: mistakes}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: narrow, namespace: mistakes}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: narrow, namespace: mistakes}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{kind: ServiceAccount, name: narrow, namespace: mistakes}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: env, namespace: mistakes, labels: {app: env}}
spec:
  replicas: 0
  selector: {matchLabels: {app: env}}
  template: {metadata: {labels: {app: env}}, spec: {containers: [{name: env, image: example.com/env}]}}
`

// TestMistakes: no command calls a GraphView well whose author has mistyped something.
func TestMistakes(t *testing.T) {
	s := shellOf(t, "admin")
	s.namespace = "mistakes"
	fixture.Apply(t, cluster, mistakesSetting)
	for i, what := range slices.Sorted(maps.Keys(mistakes)) {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			m, name := mistakes[what], fmt.Sprint("mistake-", i)
			spec := strings.NewReplacer("SA", "serviceAccountName: viewer", "QUERIES", "queries: [{include: {resourceSelectorExpression: \"resource in ['deployments', 'configmaps']\"}}]").Replace(m.spec)
			text := "apiVersion: graphview.dev/v1alpha1\nkind: GraphView\nmetadata: {name: " + name + ", namespace: mistakes}\n"
			if spec != "" {
				if !strings.Contains(spec, "namespaces:") {
					spec += "\nnamespaces: {names: [mistakes]}"
				}
				text += "spec:\n  " + strings.ReplaceAll(spec, "\n", "\n  ") + "\n"
			}
			m.check(t, s, name, fixture.Manifest(t, text))
		})
	}
}

func (m *mistake) check(t *testing.T, s shell, name, file string) {
	t.Helper()
	says := func(wantCode int, want string, args ...string) {
		t.Helper()
		eventually(t, func() string {
			stdout, stderr, code := s.run(t, args...)
			if said := stdout + stderr; code != wantCode || !strings.Contains(said, want) {
				return fmt.Sprintf("%s: exit code %d, want %d and %q in\n%s", args[0], code, wantCode, want, said)
			}
			return ""
		})
	}
	validateCode := 1
	if m.effect != "" {
		validateCode = 0 // its findings are advice
	}
	says(validateCode, m.validate, "validate", "--discover", file)
	out, err := cluster.Kubectl(t.Context(), "apply", "-f", file)
	if m.refused != "" {
		if err == nil || !strings.Contains(err.Error()+string(out), m.refused) {
			t.Errorf("apply: %v\n%s, want %q", err, out, m.refused)
		}
		return
	}
	if err != nil {
		t.Fatalf("apply: %v\n%s", err, out)
	}
	condition, status, want := "Effective", "False", m.effect
	if m.unaccepted != "" {
		condition, want = "Accepted", m.unaccepted
	}
	if m.silent {
		condition, status, want = "Healthy", "Unknown", ""
	}
	eventually(t, func() string {
		out, err := cluster.Kubectl(t.Context(), "-n", "mistakes", "get", "graphview", name, "-o",
			`jsonpath={.status.conditions[?(@.type=="`+condition+`")].status} {.status.conditions[?(@.type=="`+condition+`")].message}`)
		if err != nil || !strings.HasPrefix(string(out), status) || !strings.Contains(string(out), want) {
			return fmt.Sprintf("get: %s, %v; want %s=%s and %q", out, err, condition, status, want)
		}
		return ""
	})
	if _, err := cluster.Kubectl(t.Context(), "-n", "mistakes", "wait", "--for=condition=Healthy", "--timeout=1s", "graphview", name); err == nil {
		t.Error("wait: the GraphView is healthy")
	}
	if m.silent {
		want = m.effect
	}
	for _, command := range []string{"tree", "problems"} {
		says(1, want, command, name)
	}
}

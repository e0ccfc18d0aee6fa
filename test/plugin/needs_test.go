package plugin

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"
)

// presets are what `new` is asked for, and the names of the GraphViews that it writes.
var presets = map[string]string{
	"helm pay": "pay", "application orders": "orders", "kustomization apps": "apps", "helmrelease billing": "billing",
	"deployment web": "web", "configmap settings": "settings", "secret token": "token",
	"namespace": "namespace", "gateway public": "public", "network": "network", "nodes": "nodes", "rbac": "rbac",
}

// step is one command and its expected output.
type step struct {
	args  []string
	want  []string // what is said, wherever
	once  []string // what is said at most once
	never []string
	code  int
}

// check says what is not as it is wanted.
func (s *step) check(said string, code int) string {
	for _, want := range s.want {
		if code != s.code || !strings.Contains(said, want) {
			return fmt.Sprintf("exit code %d, want %d and %q in\n%s", code, s.code, want, said)
		}
	}
	for _, text := range s.once {
		if strings.Count(said, text) > 1 {
			return fmt.Sprintf("%q is said more than once in\n%s", text, said)
		}
	}
	for _, text := range s.never {
		if strings.Contains(said, text) {
			return fmt.Sprintf("%q is said in\n%s", text, said)
		}
	}
	return ""
}

// TestNeeds does what a platform engineer wanted of graphs when evaluating GraphView, step by
// step: what was hard, or answered wrongly, then. It takes each step with the GraphViews of the presets.
func TestNeeds(t *testing.T) {
	s := shellOf(t, "admin")
	s.namespace = needed
	prepare(t, s)
	steps := maps.Clone(diary)
	maps.Copy(steps, needs)
	for name, step := range steps {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eventually(t, func() string { // controllers and watches have to come to all of it
				stdout, stderr, code := s.run(t, step.args...)
				return step.check(stdout+stderr, code)
			})
		})
	}
	t.Run("what is optional is not missed", func(t *testing.T) {
		t.Parallel()
		eventually(t, func() string {
			out, err := cluster.Kubectl(t.Context(), "-n", needed, "get", "graphview", "web", "-o", "jsonpath={.status.missing}")
			if err != nil || string(out) != "0" {
				return fmt.Sprintf("missing: %s, %v", out, err)
			}
			return ""
		})
	})
}

// needs are the needs that an evaluation had of graphs.
var needs = map[string]step{
	"a release of Helm, and what it lacks": {
		args: []string{"tree", "pay"},
		want: []string{"Secret/sh.helm.release.v1.pay.v1", "installs Deployment/pay", "installs ConfigMap/pay-notes  MISSING", "reads env of Secret/pay-missing  MISSING"},
	},
	"an Application of Argo CD":         {args: []string{"tree", "orders"}, want: []string{"Application/orders", "installs Deployment/pay"}},
	"a Kustomization of Flux":           {args: []string{"tree", "apps"}, want: []string{"Kustomization/apps", "installs Deployment/pay"}},
	"a HelmRelease of Flux":             {args: []string{"tree", "billing"}, want: []string{"HelmRelease/billing", "installs Deployment/pay"}},
	"a Deployment":                      {args: []string{"tree", "web"}, want: []string{"Deployment/web", "ReplicaSet/web-", "mounts ConfigMap/settings", "reads env of Secret/token", "runs as ServiceAccount/web"}},
	"who would notice, declared":        {args: []string{"tree", "settings", "configmap/settings", "--reverse"}, want: []string{"mounted by Deployment/web", "mounted by Pod/web-"}},
	"who would notice, of a Secret":     {args: []string{"tree", "token", "secret/token", "--reverse"}, want: []string{"read as env by Deployment/web"}},
	"who would notice, asked":           {args: []string{"query", "--root", "configmap/settings", "--reverse"}, want: []string{"mounted by Deployment/web"}},
	"who would notice, in one word":     {args: []string{"impact", "configmap/settings"}, want: []string{"cannot start again", "Deployment/web: mounts ConfigMap/settings"}},
	"a root that is not there":          {args: []string{"query", "--root", "deployment/nope"}, want: []string{"--root deployment/nope: there is no such object"}, code: 1},
	"what is missing":                   {args: []string{"tree", "namespace", "--missing"}, want: []string{"Secret/pay-missing  MISSING", "read as env by Deployment/pay"}},
	"whether it is there":               {args: []string{"explain", "namespace", "secret/pay-missing"}, want: []string{"MISSING: it does not exist", "reads env of it"}},
	"what is unhealthy":                 {args: []string{"problems", "namespace"}, want: []string{"Deployment/web ", "Pod/web-", "0/1", "Pending", "referred to by Deployment/pay"}, code: 1},
	"an overview of many objects":       {args: []string{"tree", "namespace"}, want: []string{"Deployment/many  ", "Pod ×20 (many-", "folded (--all)"}},
	"what leads to pods":                {args: []string{"tree", "network"}, want: []string{"Ingress/web", "routes to Service/web", "selects Pod/web-"}},
	"where pods are":                    {args: []string{"tree", "nodes", "node/needs-n1", "--reverse"}, want: []string{"runs Pod/placed"}},
	"who is bound to which roles":       {args: []string{"tree", "rbac"}, want: []string{"RoleBinding/readers", "grants Role/reader", "binds ServiceAccount/web"}},
	"what is bound to a ServiceAccount": {args: []string{"explain", "rbac", "serviceaccount/web"}, want: []string{"RoleBinding/readers", "binds it"}},
	"what an address says":              {args: []string{"tree", "namespace", "deployment/pay"}, want: []string{"Service/ledger"}},
	"a graph without what is inferred":  {args: []string{"tree", "namespace", "deployment/pay", "--inferred=false"}, want: []string{"Deployment/pay", "Secret/pay-missing"}, never: []string{"ledger"}},
	"also of a query":                   {args: []string{"query", "--root", "deployment/pay", "--inferred=false", "-o", "mermaid"}, want: []string{"pay"}, never: []string{"ledger"}},
	"also for another program":          {args: []string{"get", "namespace", "-o", "json", "--inferred=false"}, want: []string{`"n":"pay"`}, never: []string{"inferred/"}},
	"six mistakes in one spec": {
		args: []string{"validate", "--discover", "-f", filepath.Join("testdata", "needs", "typos.yaml")},
		want: []string{"did you mean 'pods'", "did you mean group == ''?", "did you mean 'Deployment'?", "it decides nothing", "there is no namespace 'nedes'", `there is no ServiceAccount "viewer"`},
		code: 1,
	},
}

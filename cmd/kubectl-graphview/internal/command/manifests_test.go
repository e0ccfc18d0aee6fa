package command

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// mistake is one that a person makes in an application: a text is replaced by another.
type mistake struct {
	application, old, wrong string
	// want is in the line about it; "" for a mistake that is not expected to be found.
	want string
}

// The mistakes were written down before they were tried, five for each application.
var mistakes = map[string]mistake{
	"Secret with another name":                {"shop", "worker\n        image: registry.example.com/shop/worker:2.0.1\n        env:\n        - {name: DATABASE_HOST, value: postgres}\n        - name: DATABASE_PASSWORD\n          valueFrom:\n            secretKeyRef: {name: postgres-credentials", "worker\n        image: registry.example.com/shop/worker:2.0.1\n        env:\n        - {name: DATABASE_HOST, value: postgres}\n        - name: DATABASE_PASSWORD\n          valueFrom:\n            secretKeyRef: {name: postgres-credential", "Secret/postgres-credential "},
	"HPA of a Deployment that was renamed":    {"shop", "kind: Deployment, name: web}", "kind: Deployment, name: frontend}", "Deployment/frontend "},
	"budget selects another label":            {"shop", "maxUnavailable: 1\n  selector:\n    matchLabels: {app: api}", "maxUnavailable: 1\n  selector:\n    matchLabels: {app: backend}", "PodDisruptionBudget/api "},
	"Ingress names a port that is not there":  {"shop", "{name: web, port: {name: http}}", "{name: web, port: {number: 8080}}", "Ingress/shop "},
	"policy allows pods that are not there":   {"shop", "matchLabels: {tier: backend}", "matchLabels: {tier: back-end}", "NetworkPolicy/postgres "},
	"claim with another name":                 {"blog", "claimName: content", "claimName: contents", "PersistentVolumeClaim/contents "},
	"key that the ConfigMap does not have":    {"blog", "{name: database, key: host}", "{name: database, key: hostname}", "Deployment/wordpress "},
	"key that the Secret does not have":       {"blog", "MYSQL_ROOT_PASSWORD\n          valueFrom: {secretKeyRef: {name: mysql, key: password}}", "MYSQL_ROOT_PASSWORD\n          valueFrom: {secretKeyRef: {name: mysql, key: root-password}}", "StatefulSet/mysql "},
	"pull Secret in another namespace":        {"blog", "metadata: {name: registry, namespace: blog}", "metadata: {name: registry, namespace: default}", "Secret/blog/registry "},
	"Service of a StatefulSet was renamed":    {"blog", "metadata: {name: mysql, namespace: blog}\nspec: {clusterIP", "metadata: {name: database, namespace: blog}\nspec: {clusterIP", "Service/mysql "},
	"route to a Service that was renamed":     {"gateway", "backendRefs: [{name: site,", "backendRefs: [{name: website,", "Service/website "},
	"route of a Gateway that is not there":    {"gateway", "parentRefs: [{name: public}]", "parentRefs: [{name: external}]", "Gateway/external "},
	"listener with another certificate":       {"gateway", "certificateRefs: [{name: public-tls}]", "certificateRefs: [{name: public-cert}]", "Secret/public-cert "},
	"certificate of an issuer with a typo":    {"gateway", "issuerRef: {name: internal,", "issuerRef: {name: interal,", "Issuer/interal "},
	"Service names a port that no pod has":    {"gateway", "targetPort: web", "targetPort: http", "Service/site "},
	"Kustomization of another source":         {"flux", "path: ./infrastructure, prune: true, interval: 10m, sourceRef: {kind: GitRepository, name: fleet}", "path: ./infrastructure, prune: true, interval: 10m, sourceRef: {kind: GitRepository, name: flux-system}", "GitRepository/flux-system "},
	"dependency that was renamed":             {"flux", "dependsOn: [{name: infrastructure}]", "dependsOn: [{name: infra}]", "Kustomization/infra "},
	"values from a ConfigMap that is no more": {"flux", "name: podinfo-values}]", "name: podinfo}]", "ConfigMap/podinfo "},
	"chart from a repository of another kind": {"flux", "sourceRef: {kind: HelmRepository, name: podinfo}", "sourceRef: {kind: GitRepository, name: podinfo}", "GitRepository/podinfo "},
	"store with a typo":                       {"flux", "secretStoreRef: {name: vault,", "secretStoreRef: {name: valut,", "SecretStore/valut "},
	"binding of another ServiceAccount":       {"monitoring", "subjects: [{kind: ServiceAccount, name: exporter,", "subjects: [{kind: ServiceAccount, name: default-exporter,", "ServiceAccount/default-exporter "},
	"monitor selects no Service":              {"monitoring", "spec:\n  selector: {matchLabels: {app: exporter}}\n  endpoints", "spec:\n  selector: {matchLabels: {app: node-exporter}}\n  endpoints", "ServiceMonitor/exporter "},
	"monitor of a port that is not there":     {"monitoring", "endpoints:\n  - port: metrics", "endpoints:\n  - port: http-metrics", "ServiceMonitor/exporter "},
	"item of a key that is not there":         {"monitoring", "items: [{key: config.yaml,", "items: [{key: config.yml,", "Deployment/exporter "},
	"volume of a ConfigMap that is no more":   {"monitoring", "configMap: {name: grafana-dashboards}", "configMap: {name: dashboards}", "ConfigMap/dashboards "},
	"host of a route with a typo":             {"mesh", "destination: {host: reviews,", "destination: {host: review,", "Service/review "},
	"subset that is not declared":             {"mesh", "subset: v2}", "subset: v3}", "VirtualService/reviews "},
	"mesh gateway with another name":          {"mesh", "gateways: [public]", "gateways: [public-gateway]", "Gateway/public-gateway "},
	"scaled object of another Deployment":     {"mesh", "scaleTargetRef: {name: reviews-v2}", "scaleTargetRef: {name: reviews}", "Deployment/reviews "},
	"trigger without authentication":          {"mesh", "authenticationRef: {name: kafka}", "authenticationRef: {name: kafka-auth}", "TriggerAuthentication/kafka-auth "},
	"Secret of a database with a typo":        {"pipeline", "secretKeyRef: {name: orders-app,", "secretKeyRef: {name: order-app,", "Secret/order-app "},
	"database with another owner":             {"pipeline", "secret: {name: orders-owner}", "secret: {name: owner}", "Secret/owner "},
	"migrations that were renamed":            {"pipeline", "configMap: {name: migrations}", "configMap: {name: migration}", "ConfigMap/migration "},
	"template of a workflow that is no more":  {"pipeline", "workflowTemplateRef: {name: load}", "workflowTemplateRef: {name: load-orders}", "WorkflowTemplate/load-orders "},
	"account of a template with a typo":       {"pipeline", "spec:\n  serviceAccountName: report\n", "spec:\n  serviceAccountName: reports\n", "ServiceAccount/reports "},
	"webhook in another namespace":            {"platform", "service: {name: webhook, namespace: platform,", "service: {name: webhooks, namespace: platform,", "Service/webhooks "},
	"priority class with a typo":              {"platform", "priorityClassName: platform", "priorityClassName: platforms", "PriorityClass/platforms "},
	"role that is not there":                  {"platform", "kind: Role, name: leader}", "kind: Role, name: leader-election}", "Role/leader-election "},
	"custom resource names no Secret":         {"platform", "credentialsSecretRef: {name: widget}", "credentialsSecretRef: {name: widgets}", "Secret/widgets "},
	"selector and template differ":            {"platform", "template:\n    metadata: {labels: {app: operator}}", "template:\n    metadata: {labels: {app: platform-operator}}", "Deployment/operator "},
}

// problemsFrom runs problems --from - and returns its output.
func problemsFrom(t *testing.T, text string, args ...string) (said string, code int) {
	t.Helper()
	var out, failure bytes.Buffer
	code = Run(t.Context(), "v0.0.0", append([]string{"problems", "--from", "-"}, args...), genericiooptions.IOStreams{In: strings.NewReader(text), Out: &out, ErrOut: &failure})
	if code != exitOK && code != exitFailed {
		t.Errorf("exit code %d: %s", code, failure.String())
	}
	return out.String(), code
}

func application(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "applications", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// TestMistakes: each of forty mistakes is the only problem of its application.
func TestMistakes(t *testing.T) {
	const wanted = 36
	found := 0
	for name, m := range mistakes {
		t.Run(name, func(t *testing.T) {
			before := application(t, m.application)
			if n := strings.Count(before, m.old); n != 1 {
				t.Fatalf("%q is there %d times", m.old, n)
			}
			said, code := problemsFrom(t, strings.Replace(before, m.old, m.wrong, 1))
			if code == exitFailed && strings.Contains(strings.ReplaceAll(said, "  ", " "), m.want) {
				found++
				if n := strings.Count(said, "\n") - 1; n != 1 {
					t.Logf("%d problems:\n%s", n, said)
				}
				return
			}
			t.Logf("%s is not found, exit code %d:\n%s", name, code, said)
		})
	}
	t.Logf("%d of %d mistakes are found", found, len(mistakes))
	if found < wanted || len(mistakes) != 40 {
		t.Errorf("%d of %d mistakes are found, want %d of 40", found, len(mistakes), wanted)
	}
}

// TestApplicationsWithoutMistakes: there is no alarm.
func TestApplicationsWithoutMistakes(t *testing.T) {
	for _, name := range []string{"shop", "blog", "gateway", "flux", "monitoring", "mesh", "pipeline", "platform"} {
		if said, code := problemsFrom(t, application(t, name)); code != exitOK {
			t.Errorf("%s: exit code %d:\n%s", name, code, said)
		}
	}
}

// TestSample: the mistake of the sample is the one that the documentation shows.
func TestSample(t *testing.T) {
	t.Chdir("../../../..")
	var out, failure bytes.Buffer
	code := Run(t.Context(), "v0.0.0", []string{"problems", "--from", "config/samples/shop"}, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &failure})
	page, err := os.ReadFile("docs/manifests.md")
	if err != nil {
		t.Fatal(err)
	}
	if code != exitFailed || !strings.Contains(string(page), out.String()) {
		t.Errorf("exit code %d, and this is not in the page:\n%s%s", code, out.String(), failure.String())
	}
}

// TestProblemOutputs: outputs for other programs have the place of each reference.
func TestProblemOutputs(t *testing.T) {
	text := strings.Replace(application(t, "blog"), "claimName: content}", "claimName: contents}", 1)
	for output, want := range map[string]string{
		"json":  `"line": 30,`,
		"sarif": `"startLine": 30`,
		"junit": `<stdin>:30:44: Deployment/wordpress spec.template.spec.volumes[].persistentVolumeClaim.claimName`,
		"table": "<stdin>:30:44",
	} {
		said, code := problemsFrom(t, text, "-o", output)
		if unescaped := strings.NewReplacer("&lt;", "<", "&gt;", ">").Replace(said); code != exitFailed || !strings.Contains(unescaped, want) {
			t.Errorf("-o %s: exit code %d, and %q is not in\n%s", output, code, want, said)
		}
	}
	for name, args := range map[string][]string{"allowed": {"--allow", "persistentvolumeclaim/c*"}, "in its namespace": {"--allow", "PersistentVolumeClaim/blog/contents"}} {
		if said, code := problemsFrom(t, text, args...); code != exitOK {
			t.Errorf("%s: exit code %d:\n%s", name, code, said)
		}
	}
	if said, code := problemsFrom(t, "# graphview: allow PersistentVolumeClaim/contents\n"+text); code != exitOK {
		t.Errorf("a comment: exit code %d:\n%s", code, said)
	}
}

// TestFromIsRefused: a command line that makes no sense is refused with a remedy.
func TestFromIsRefused(t *testing.T) {
	for want, args := range map[string][]string{
		"standard input is that of the agent": {"mcp", "--from", "-"},
		"--from looks at no cluster":          {"tree", "--local", "--from", "-"},
		"--allow goes with":                   {"problems", "--allow", "Secret/a"},
		"there is no object in -":             {"tree", "--from", "-"},
		"leave all but one out":               {"tree", "--from", "-", "-n", "a,b"},
		"testdata/none: no such file or directory; name a file, a folder": {"tree", "--from", "testdata/none"},
		"--from shows manifests, and no GraphView of the cluster":         {"problems", "storefront", "--from", "-"},
	} {
		var failure bytes.Buffer
		code := Run(t.Context(), "v0.0.0", args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &bytes.Buffer{}, ErrOut: &failure})
		if code != exitUsage || !strings.Contains(failure.String(), want) {
			t.Errorf("%v: exit code %d: %s, want %q", args, code, failure.String(), want)
		}
	}
}

// TestManifestTexts: other commands print the places of objects, and no health, since nothing has run.
func TestManifestTexts(t *testing.T) {
	for name, tt := range map[string]struct {
		args         []string
		want, absent string
	}{
		"tree":          {[]string{"tree"}, "└── runs as ServiceAccount/exporter", "Progressing"},
		"explain":       {[]string{"explain", "deploy/exporter"}, "at <stdin>:3:18", "0/1"},
		"explain, made": {[]string{"explain", "pod/exporter-*"}, "in no manifest: a controller or every cluster has it", "Pending"},
		"explain, kind": {[]string{"explain", "deployment"}, "Deployment.apps", ""},
		"impact":        {[]string{"impact", "sa/exporter"}, "Deployment/exporter", ""},
		"get":           {[]string{"get", "-o", "dot"}, "digraph", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var out, failure bytes.Buffer
			code := Run(t.Context(), "v0.0.0", append(tt.args, "--from", "-"), genericiooptions.IOStreams{In: strings.NewReader(application(t, "monitoring")), Out: &out, ErrOut: &failure})
			if code != exitOK || !strings.Contains(out.String(), tt.want) || tt.absent != "" && strings.Contains(out.String(), tt.absent) {
				t.Errorf("exit code %d, want %q, not %q:\n%s%s", code, tt.want, tt.absent, out.String(), failure.String())
			}
		})
	}
}

// TestAgentOfManifests: the tools of an agent answer from manifests, without a kubeconfig.
func TestAgentOfManifests(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	in, ask := io.Pipe()
	answers, out := io.Pipe()
	done := make(chan int)
	go func() {
		folder := filepath.Join("..", "..", "..", "..", "config", "samples", "shop")
		done <- Run(t.Context(), "v0.0.0", []string{"mcp", "--from", folder}, genericiooptions.IOStreams{In: in, Out: out, ErrOut: io.Discard})
		_ = out.Close() // its error is always nil
	}()
	go func() {
		for _, line := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"problems","arguments":{}}}`,
		} {
			_, _ = io.WriteString(ask, line+"\n") // the end of the command ends it too
		}
	}()
	said, lines := "", bufio.NewScanner(answers)
	for !strings.Contains(said, `"id":2`) && lines.Scan() {
		said += lines.Text()
	}
	if !strings.Contains(said, "Secret/postgres-credential") || !strings.Contains(said, "api.yaml:27:34") {
		t.Errorf("the mistake is not in %s", said)
	}
	_ = ask.Close() // its error is always nil
	if code := <-done; code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

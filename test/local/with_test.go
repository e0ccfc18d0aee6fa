package local

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"graphview.dev/test/fixture"
)

// TestWith: manifests laid over a cluster show the references that they would break. The cluster does not change.
func TestWith(t *testing.T) {
	fixture.Kubectl(t, cluster, "create", "namespace", "with")
	fixture.KubectlAfter(t, cluster, "delete", "namespace", "with", "--wait=false")
	fixture.Kubectl(t, cluster, "-n", "with", "apply", "-f", filepath.Join("testdata", "with.yaml"))
	fixture.Kubectl(t, cluster, "-n", "with", "apply", "--server-side", "-f", fixture.Manifest(t, configMap("served", "LOG: debug, MODE: fast")))
	fixture.Kubectl(t, cluster, "-n", "with", "wait", "--for=create", "configmap/kube-root-ca.crt", fixture.Timeout())
	live, err := os.ReadFile(filepath.Join("testdata", "with.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	edited := func(replacements ...string) string { return strings.NewReplacer(replacements...).Replace(string(live)) }
	const reads = "apiVersion: v1\nkind: Pod\nmetadata: {name: reads}\nspec:\n  containers:\n  - name: a\n    image: a\n" +
		"    env: [{name: LOG, valueFrom: {configMapKeyRef: {name: served, key: LOG}}}]\n"
	reader := people()["reader"]
	tests := map[string]struct {
		manifests string
		args      []string
		want      []string
		wantNot   []string
		wantCode  int
	}{
		"what leaves a reference optional": {
			manifests: edited("{name: mailer}}]", "{name: mailer, optional: true}}]"), want: []string{"No problems in 5 objects", "nothing is applied, and nothing is deleted"},
		},
		"a key that a live Deployment needs": {
			manifests: configMap("app", "MODE: slow"), wantCode: 1, want: []string{"Deployment/web", "wrong", "ConfigMap/app has no key LOG; it has MODE"},
		},
		"a key that was applied by the server": {
			manifests: configMap("served", "MODE: slow") + "---\n" + reads, wantCode: 1, want: []string{"Pod/reads", ":13:72", "ConfigMap/served has no key LOG; it has MODE"},
		},
		"a key that another manager added": {
			manifests: configMap("kube-root-ca.crt", "MORE: a") + "---\n" + strings.ReplaceAll(strings.ReplaceAll(reads, "served", "kube-root-ca.crt"), "key: LOG", "key: ca.crt"),
			want:      []string{"No problems in 2 objects"},
		},
		"an object that nobody has": {
			manifests: edited("configMapKeyRef: {name: app,", "configMapKeyRef: {name: aps,"), wantCode: 1,
			want: []string{"ConfigMap/aps", "missing", ":20:47", "referred to by Deployment/web; did you mean ConfigMap/app?", "ConfigMap/mailer"},
		},
		"a Service that is renamed, but not in the Ingress": {
			manifests: edited("{service: {name: web,", "{service: {name: shop,"), wantCode: 1, want: []string{"Service/shop", "referred to by Ingress/web"},
		},
		"a port that a live Ingress needs": {
			manifests: "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec:\n  selector: {app: web}\n  ports: [{name: web, port: 80, targetPort: http}]\n", wantCode: 1,
			want: []string{"Ingress/web", "Service/web has no port http; it has web (80)"},
		},
		"labels that a live Service needs": {
			manifests: "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  selector: {matchLabels: {app: shop}}\n" +
				"  template: {metadata: {labels: {app: shop}}, spec: {containers: [{name: web, image: web}]}}\n",
			wantCode: 1, want: []string{"Service/web", "selects no Pod with app=web"},
		},
		"an object that was missing": {
			manifests: configMap("mailer", "HOST: a"), want: []string{"No problems in 1 object"},
		},
		"a reference that led to nothing": {
			manifests: configMap("mailer", "HOST: a"), args: []string{"explain", "--local", "ConfigMap/mailer"}, want: []string{"Deployment/mailer", "at ", ":3:18"}, wantNot: []string{"missing"},
		},
		"what the rename of a Service frees": {
			manifests: edited("metadata: {name: web}\nspec:\n  selector: {app", "metadata: {name: shop}\nspec:\n  selector: {app", "{service: {name: web,", "{service: {name: shop,"),
			args:      []string{"impact", "--local", "service/shop"}, want: []string{"Ingress/web"},
		},
		"what still uses a Service": {
			manifests: edited("metadata: {name: web}\nspec:\n  selector: {app", "metadata: {name: shop}\nspec:\n  selector: {app", "{service: {name: web,", "{service: {name: shop,"),
			args:      []string{"impact", "--local", "service/web"}, wantNot: []string{"Ingress/web"},
		},
		"a kind that the cluster does not serve": {
			manifests: configMap("a", "a: b") + "---\napiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\n",
			want:      []string{"the cluster does not serve Widget of example.com/v1 yet", "No problems in 2 objects"},
		},
		"another namespace": {
			manifests: configMap("a, namespace: elsewhere", "a: b"), want: []string{"Not seen: objects of manifests in elsewhere"},
		},
		"no view":           {manifests: configMap("a", "a: b"), args: []string{"problems", "--local=false"}, wantCode: 2, want: []string{"--with goes with --local, or with the name of a GraphView"}},
		"beside manifests":  {manifests: configMap("a", "a: b"), args: []string{"problems", "--from", shop}, wantCode: 2, want: []string{"leave it, or --from"}},
		"a view of no name": {manifests: configMap("a", "a: b"), args: []string{"problems", "storefront"}, wantCode: 3, want: []string{"read GraphView with/storefront for --with"}},
		"a typo":            {manifests: "a: [", wantCode: 2, want: []string{":1: this is no YAML"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := tt.args
			if args == nil {
				args = []string{"problems", "--local"}
			}
			stdout, stderr, code := reader.run(t, append(slices.Clone(args), "-n", "with", "--with", fixture.Manifest(t, tt.manifests))...)
			if code != tt.wantCode {
				t.Errorf("exit code %d, want %d", code, tt.wantCode)
			}
			for _, want := range tt.want {
				if !strings.Contains(stdout+stderr, want) {
					t.Errorf("%q is not in the answer", want)
				}
			}
			for _, text := range tt.wantNot {
				if strings.Contains(stdout, text) {
					t.Errorf("%q is in the answer", text)
				}
			}
			if t.Failed() {
				t.Logf("%s%s", stdout, stderr)
			}
		})
	}
}

// TestWithRights: a user sees no objects of manifests whose kind the user may not list.
func TestWithRights(t *testing.T) {
	manifests := fixture.Manifest(t, configMap("brought", "a: b"))
	for name, want := range map[string]bool{"narrow": false, "one": true} {
		stdout, stderr, code := people()[name].run(t, "get", "-o", "json", "--local", "-n", "red", "--with", manifests)
		if code != 0 || strings.Contains(stdout, `"brought"`) != want {
			t.Errorf("%s sees the ConfigMap, want %t; exit code %d:\n%s%s", name, want, code, stdout, stderr)
		}
	}
	_, stderr, code := people()["narrow"].run(t, "problems", "--local", "-n", "red", "--with", manifests)
	if code != 0 || !strings.Contains(stderr, "keys, ports and selectors are not judged there") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// TestWithView: beside --with, the NAME of a GraphView shows its selection, with the user's own rights.
func TestWithView(t *testing.T) {
	crds := filepath.Join("..", "..", "config", "crd")
	fixture.Kubectl(t, cluster, "apply", "-k", crds)
	fixture.KubectlAfter(t, cluster, "delete", "-k", crds)
	fixture.Kubectl(t, cluster, "wait", "--for=condition=Established", "crd/graphviews.graphview.dev", "crd/referencerules.graphview.dev", fixture.Timeout())
	fixture.Kubectl(t, cluster, "apply", "-f", fixture.Manifest(t, "apiVersion: graphview.dev/v1alpha1\nkind: GraphView\nmetadata: {name: settings, namespace: red}\nspec:\n"+
		"  namespaces: {names: [blue]}\n  queries: [{include: {resourceSelectorExpression: \"resource in ['configmaps', 'pods']\"}}]\n"+
		"---\napiVersion: graphview.dev/v1alpha1\nkind: ReferenceRule\nmetadata: {name: owners}\nspec:\n  from: {group: '', kind: ConfigMap}\n  references:\n"+
		"  - {path: data.owner, to: {group: '', kind: ConfigMap}}\n"))
	manifests := fixture.Manifest(t, configMap("brought, namespace: blue", "owner: nobody")+"---\n"+strings.Replace(configMap("else, namespace: blue", "a: b"), "ConfigMap", "Secret", 1))
	stdout, stderr, code := people()["reader"].run(t, "problems", "settings", "-n", "red", "--with", manifests)
	if code != 1 || !strings.Contains(stdout, "ConfigMap/blue/nobody") || !strings.Contains(stderr, "Without an operator, with your own rights, in namespace blue; as the GraphView names them") {
		t.Errorf("exit code %d:\n%s%s", code, stdout, stderr)
	}
	for args, want := range map[string]string{
		"get settings -o json":                             `"brought"`,
		"explain settings configmap/blue/brought":          "ConfigMap/blue/nobody",
		"impact --in settings configmap/blue/brought":      "Deleting ConfigMap/blue/brought",
		"tree settings configmap/blue/brought":             "nobody",
		"explain settings secret/blue/else":                "not in",
		"problems settings --allow ConfigMap/nobody":       "No problems in 2 objects",
		"problems settings --allow ConfigMap/nob* -o json": `"complete": true`,
	} {
		stdout, stderr, _ := people()["reader"].run(t, append(strings.Fields(args), "-n", "red", "--with", manifests)...)
		if !strings.Contains(stdout+stderr, want) {
			t.Errorf("%s: %q is not in\n%s%s", args, want, stdout, stderr)
		}
	}
}

func configMap(name, data string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata: {" + data + "}\n"
}

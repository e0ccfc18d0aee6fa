package local

import (
	"strings"
	"testing"

	"graphview.dev/test/fixture"
)

// TestGate: the exit codes of problems --local tell a finding from an answer that is not known.
func TestGate(t *testing.T) {
	all := people()
	offline := all["admin"]
	offline.flags = []string{"--server=https://127.0.0.1:1"}
	tests := map[string]struct {
		person   person
		args     []string
		want     string
		wantCode int
	}{
		"nothing found":               {person: all["reader"], args: []string{"-n", "empty"}, want: "No problems in 1 graph."},
		"something found":             {person: all["reader"], args: []string{"-n", "red"}, want: "ConfigMap/mailer"},
		"not reached":                 {person: offline, args: []string{"-n", "red"}, want: "connect to https://127.0.0.1:1", wantCode: 3},
		"nothing readable":            {person: all["none"], args: []string{"-n", "red"}, want: "you may list nothing", wantCode: 3},
		"not complete in time":        {person: all["reader"], args: []string{"-n", "red", "--wait", "1ns"}, want: "is not complete after 1ns", wantCode: 3},
		"kinds left out":              {person: all["two"], args: []string{"-n", "blue"}, want: "secrets in blue"},
		"kinds left out, with strict": {person: all["two"], args: []string{"-n", "blue", "--strict"}, want: "and --strict", wantCode: 3},
		"a name":                      {person: all["admin"], args: []string{"storefront"}, want: "have one view: leave storefront out", wantCode: 2},
		"an unknown output":           {person: all["admin"], args: []string{"-n", "red", "-o", "yaml"}, want: "expected one of table, json", wantCode: 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stdout, stderr, code := tt.person.run(t, append([]string{"problems", "--local"}, tt.args...)...)
			if name == "something found" {
				tt.wantCode = 1
			}
			if code != tt.wantCode || !strings.Contains(stdout+stderr, tt.want) {
				t.Errorf("exit code %d, want %d, and %q in:\n%s%s", code, tt.wantCode, tt.want, stdout, stderr)
			}
		})
	}
}

// TestFile: -f shows the GraphView that one would commit, and names what is wrong with it.
func TestFile(t *testing.T) {
	view := func(name, expression string) string {
		return "apiVersion: graphview.dev/v1alpha1\nkind: GraphView\nmetadata: {name: " + name + ", namespace: other}\nspec:\n  serviceAccountName: viewer\n" +
			"  namespaces: {names: [red]}\n  queries:\n  - include: {resourceSelectorExpression: \"" + expression + "\"}\n"
	}
	const rule = "---\napiVersion: graphview.dev/v1alpha1\nkind: ReferenceRule\nmetadata: {name: labels}\nspec:\n  from: {group: '', kind: Pod}\n  references:\n" +
		"  - {path: spec.hostname, to: {group: apps, kind: StatefulSet}}\n"
	tests := map[string]struct {
		text, want string
		wantCode   int
	}{
		"a GraphView":                         {text: view("pods", "resource == 'pods'"), want: "3 objects"},
		"a GraphView and a ReferenceRule":     {text: view("pods", "resource in ['pods', 'statefulsets']") + rule, want: "4 objects"},
		"a part without effect":               {text: view("pods", "resource in ['pods', 'secretz']"), want: "no resource 'secretz'"},
		"two GraphViews":                      {text: view("a", "true") + "---\n" + view("b", "true"), want: ":11: a second GraphView, b", wantCode: 2},
		"an expression that does not compile": {text: view("a", "resourc == 'pods'"), want: ":8: GraphView other/a: spec.queries[0].include.resourceSelectorExpression", wantCode: 2},
		"no YAML":                             {text: "a: [", want: ":1: this is no YAML", wantCode: 2},
		"an unknown kind":                     {text: "apiVersion: graphview.dev/v1alpha1\nkind: Nothing\n", want: "has no kind Nothing", wantCode: 2},
		"another kind":                        {text: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", want: "there is no GraphView in it", wantCode: 2},
	}
	p := people()["admin"]
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stdout, stderr, code := p.run(t, "tree", "--local", "-f", fixture.Manifest(t, tt.text))
			if code != tt.wantCode || !strings.Contains(stdout+stderr, tt.want) {
				t.Errorf("exit code %d, want %d, and %q in:\n%s%s", code, tt.wantCode, tt.want, stdout, stderr)
			}
		})
	}
}

// TestUse: flags of --local are refused without it, and commands without a view refuse --local.
func TestUse(t *testing.T) {
	p := people()["admin"]
	for want, args := range map[string][]string{
		"several namespaces are for --local":         {"tree", "storefront", "-n", "a,b"},
		"-f is the GraphView of --local":             {"tree", "storefront", "-f", "view.yaml"},
		"-A is for --local":                          {"tree", "storefront", "-A"},
		"unknown flag: --local":                      {"list", "--local"},
		"--strict is for --local":                    {"problems", "--strict"},
		"or add --local to look without an operator": {"tree", "storefront"},
		"--in names a GraphView of an operator":      {"impact", "--local", "-n", "red", "--in", "storefront", "pod/mailer"},
	} {
		stdout, stderr, code := p.run(t, args...)
		wantCode := 2
		if args[0] == "tree" && len(args) == 2 {
			wantCode = 1 // the use is right, and there is no operator
		}
		if code != wantCode || !strings.Contains(stderr, want) {
			t.Errorf("%v: exit code %d, want %d, and %q in:\n%s%s", args, code, wantCode, want, stdout, stderr)
		}
	}
}

package local

import (
	"encoding/json"
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
		"kinds left out":              {person: all["two"], args: []string{"-n", "blue"}, want: "you may not list it in blue"},
		"kinds left out, with strict": {person: all["two"], args: []string{"-n", "blue", "--strict"}, want: "and --strict", wantCode: 3},
		"a name":                      {person: all["admin"], args: []string{"storefront"}, want: "--local is one view, of your own rights: leave storefront out", wantCode: 2},
		"an unknown output":           {person: all["admin"], args: []string{"-n", "red", "-o", "xml"}, want: "expected one of table, wide, name, json, yaml", wantCode: 2},
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

// TestChosen: where no operator serves graphs, a command that names no GraphView looks with the person's own rights, and
// says so.
func TestChosen(t *testing.T) {
	p := people()["admin"]
	for _, args := range [][]string{{"tree", "-n", "red"}, {"tree", "pod", "mailer", "-n", "red"}, {"explain", "pod/mailer", "-n", "red"}, {"get", "-n", "red"}, {"impact", "pod/mailer", "-n", "red"}, {"query", "-n", "red"}} {
		stdout, stderr, code := p.run(t, args...)
		if want := "No operator serves graphs here, so with your own rights, in namespace red. --local=false refuses that."; code != 0 || !strings.Contains(stdout, "mailer") || !strings.Contains(stderr, want) {
			t.Errorf("%v: exit code %d, want %q in:\n%s%s", args, code, want, stdout, stderr)
		}
		if _, stderr, code = p.run(t, append(args, "--local=false")...); code != 1 || !strings.Contains(stderr, "serves no graphs") {
			t.Errorf("%v --local=false: exit code %d:\n%s", args, code, stderr)
		}
	}
	if stdout, stderr, code := p.run(t, "problems", "-n", "red", "-o", "name"); code != 1 || !strings.Contains(stdout, "configmap/mailer\n") {
		t.Errorf("problems: exit code %d:\n%s%s", code, stdout, stderr)
	}
	if _, stderr, code := p.run(t, "problems", "-n", "red", "--local=false"); code != 3 {
		t.Errorf("problems --local=false: exit code %d, want 3:\n%s", code, stderr)
	}
}

// TestOutputs: every command that reads has the outputs of kubectl.
func TestOutputs(t *testing.T) {
	p := people()["admin"]
	for _, args := range [][]string{{"tree"}, {"tree", "pod/mailer"}, {"explain", "pod/mailer"}, {"impact", "configmap/web"}, {"problems"}, {"get"}, {"query"}} {
		args = append(args, "--local", "-n", "red")
		for output, want := range map[string]string{"name": "pod/", "json": "mailer", "yaml": "mailer", "wide": "mailer"} {
			if args[0] == "impact" {
				want = map[string]string{"name": "pod/web-0\n", "json": `"web"`, "yaml": "web", "wide": "ConfigMap/web"}[output]
			}
			stdout, stderr, code := p.run(t, append(args, "-o", output)...)
			if args[0] == "problems" {
				code, want = code-1, map[string]string{"name": "configmap/mailer\n", "json": `"name": "mailer"`, "yaml": "name: mailer", "wide": "  Pod/mailer"}[output]
			}
			if code != 0 || !strings.Contains(stdout, want) {
				t.Errorf("%v -o %s: exit code %d, want %q in:\n%s%s", args, output, code, want, stdout, stderr)
			}
			if output == "json" && !json.Valid([]byte(stdout)) {
				t.Errorf("%v -o json: no JSON:\n%s", args, stdout)
			}
		}
	}
}

// TestUse: flags of --local are refused without it, and commands without a view refuse --local.
func TestUse(t *testing.T) {
	p := people()["admin"]
	for want, args := range map[string][]string{
		"-n with several namespaces and the GraphView": {"tree", "storefront", "-n", "a,b"},
		"-f and the GraphView \"storefront\" do not":   {"tree", "storefront", "-f", "view.yaml"},
		"-A and the GraphView \"storefront\" do not":   {"tree", "storefront", "-A"},
		"-A is for --local":                            {"tree", "-A", "--local=false"},
		"list has no --local":                          {"list", "--local"},
		"--strict is for --local":                      {"problems", "--strict", "--local=false"},
		"or add --local to look without an operator":   {"tree", "storefront"},
		"--local is one view, of your own rights":      {"impact", "--local", "-n", "red", "--in", "storefront", "pod/mailer"},
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

package plugin

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"graphview.dev/test/fixture"
)

// mistake is a typing mistake of an author, and the message of each command. test/js tests the
// messages of the page.
type mistake struct {
	What string
	// Spec is that of the GraphView.
	Spec string
	// Refused is what the API server says; empty if it takes the spec.
	Refused string
	// Unaccepted is what the condition Accepted says; empty if the spec is accepted.
	Unaccepted string
	// Effect is what is said of a spec that is accepted and shows nothing.
	Effect string
	// Silent: the condition Effective may not say it.
	Silent bool
	// Validate is what the plugin says of the file.
	Validate string
}

// mistakes are those of a first evaluation. Each was green, or refused without a hint, once.
func mistakes(t *testing.T) (all []mistake) {
	t.Helper()
	text, err := os.ReadFile("testdata/mistakes.json")
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestMistakes: no command calls a GraphView well whose author has mistyped something.
func TestMistakes(t *testing.T) {
	s := shellOf(t, "admin")
	s.namespace = "mistakes"
	if out, err := cluster.Kubectl(t.Context(), "apply", "-f", "testdata/mistakes.yaml"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for i, m := range mistakes(t) {
		t.Run(m.What, func(t *testing.T) {
			t.Parallel()
			name := fmt.Sprint("mistake-", i)
			text := "apiVersion: graphview.dev/v1alpha1\nkind: GraphView\nmetadata: {name: " + name + ", namespace: mistakes}\n"
			if m.Spec != "" {
				text += "spec:\n  " + strings.ReplaceAll(m.Spec, "\n", "\n  ") + "\n"
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
	if m.Effect != "" {
		validateCode = 0 // its findings are advice
	}
	says(validateCode, m.Validate, "validate", "--discover", file)
	out, err := cluster.Kubectl(t.Context(), "apply", "-f", file)
	if m.Refused != "" {
		if err == nil || !strings.Contains(err.Error()+string(out), m.Refused) {
			t.Errorf("apply: %v\n%s, want %q", err, out, m.Refused)
		}
		return
	}
	if err != nil {
		t.Fatalf("apply: %v\n%s", err, out)
	}
	condition, status, want := "Effective", "False", m.Effect
	if m.Unaccepted != "" {
		condition, want = "Accepted", m.Unaccepted
	}
	if m.Silent {
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
	if m.Silent {
		want = m.Effect
	}
	for _, command := range []string{"tree", "problems"} {
		code := 1
		if command == "problems" && m.Unaccepted != "" {
			code = 3 // whether there are problems is not known
		}
		says(code, want, command, name)
	}
}

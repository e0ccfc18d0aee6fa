package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"graphview.dev/client"
)

// TestNamesArePrintable: a name that an object or a server has adds no line and no escape to what
// a command prints. Names of RBAC may have any character.
func TestNamesArePrintable(t *testing.T) {
	const hostile = "evil\x1b[2J\nerror: forged\u202e\u2028end"
	const harmless = "evil\uFFFD[2J\uFFFDerror: forged\uFFFD\uFFFDend"
	role := client.Key{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles", Namespace: "shop", Name: hostile}
	binding := client.Key{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings", Namespace: "shop", Name: "binding"}
	g := &client.Graph{}
	g.Apply(&client.Message{Synced: true, Actions: []client.Action{
		{SetVertex: &client.Vertex{Key: binding, Object: json.RawMessage(`{"kind":"RoleBinding"}`)}},
		{SetVertex: &client.Vertex{Key: role, Object: json.RawMessage(`{"kind":"Role"}`)}},
		{SetArc: &client.Arc{From: binding, To: role, Type: client.Uses, Attributes: client.Attributes{Fields: []string{`['` + hostile + `']`}}}},
	}, Warnings: []client.Warning{{Type: "Test", Message: "about " + hostile}}})
	v := viewOf(t, nil)
	var out bytes.Buffer
	v.IOStreams = genericiooptions.IOStreams{Out: &out, ErrOut: &out}
	v.mapper, v.inferred = offlineView, true
	said := func(run func() error) string {
		out.Reset()
		v.exitCode(t.Context(), run())
		return out.String()
	}
	k := v.newKinds("shop", g)
	for name, test := range map[string]struct {
		run  func() error
		want string
	}{
		"tree": {
			func() error { return v.draw(t.Context(), v, g, shape{}, nil) },
			"RoleBinding/binding\n└── uses Role/" + harmless + "\n\n2 objects, 1 reference\n\nabout " + harmless + "\n",
		},
		"explain": {
			func() error {
				v.table("Refers to", g.Out(binding), func(arc client.Arc) []string { return []string{k.name(arc.To), fields(arc.Attributes)} })
				return nil
			},
			"\nRefers to:\n  Role/" + harmless + "  ['" + harmless + "']\n",
		},
		"a similar name": {
			func() error {
				_, err := k.find("role/" + strings.TrimSuffix(hostile, "d"))
				return err
			},
			"error: role/evil\uFFFD[2J\n  error: forged\uFFFD\uFFFDen is not in the graph; did you mean role/" + harmless + "?\n",
		},
		"a message of the server": {
			func() error { return errors.New(hostile + "\n\n\tmore\n") },
			"error: evil\uFFFD[2J\n  error: forged\uFFFD\uFFFDend\n\n    more\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, said(test.run)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

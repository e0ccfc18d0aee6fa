package plugin

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/client"
)

// TestAgreement: for each object of a graph, the server, the plugin and its tools for agents name
// the same users: explain, impact, and the part of the graph above the object.
func TestAgreement(t *testing.T) {
	reader, err := client.New(cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(reader.CloseIdleConnections)
	g, err := reader.Summaries(t.Context(), namespace, "storefront")
	if err != nil {
		t.Fatal(err)
	}
	agent := agentOf(t, "admin")
	s := shellOf(t, "admin")
	for key, vertex := range g.Vertices {
		name := strings.ToLower(vertex.Summary.Kind) + "/" + key.Name
		t.Run(name, func(t *testing.T) {
			users, owners := usersOf(g, key)
			part, err := reader.Part(t.Context(), namespace, "storefront", client.Narrow{Roots: []client.Key{key}, Direction: client.Up, Depth: 1}, client.ContentSummary)
			if err != nil {
				t.Fatal(err)
			}
			var above []string
			for other := range part.Vertices {
				if other != key {
					above = append(above, nameIn(g, other))
				}
			}
			if diff := cmp.Diff(sorted(users, owners), sorted(above)); diff != "" {
				t.Errorf("the part above it (-graph +part):\n%s", diff)
			}
			found, err := reader.Impact(t.Context(), namespace, "storefront", key, "", client.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var told []string
			for _, group := range found.Groups {
				for _, other := range group.Objects {
					if named := nameIn(g, other); slices.Contains(users, named) {
						told = append(told, named)
					}
				}
			}
			if diff := cmp.Diff(sorted(users), sorted(told)); diff != "" {
				t.Errorf("impact leaves users out (-graph +impact):\n%s", diff)
			}
			explained := said(t, s, "explain", "storefront", name)
			if diff := cmp.Diff(sorted(users), sorted(referrers(explained))); diff != "" {
				t.Errorf("explain (-graph +explain):\n%s%s", diff, explained)
			}
			for tool, text := range map[string]string{"explain": explained, "impact": said(t, s, "impact", name, "--in", "storefront")} {
				if answer, _ := ask(t, agent, tool, map[string]any{"graph": "storefront", "object": name}); ageless(answer) != ageless(text) {
					t.Errorf("%s of the agent's tools (-plugin +agent):\n%s", tool, cmp.Diff(ageless(text), ageless(answer)))
				}
			}
		})
	}
}

// ageless returns a text without ages, which differ between two calls.
func ageless(text string) string {
	return age.ReplaceAllString(strings.TrimSpace(text), "created AGE ago")
}

func said(t *testing.T, s shell, args ...string) string {
	t.Helper()
	stdout, stderr, code := s.run(t, args...)
	if code != 0 {
		t.Fatalf("%v: %s", args, stderr)
	}
	return stdout
}

// usersOf returns what refers to an object, and what owns it.
func usersOf(g *client.Graph, key client.Key) (users, owners []string) {
	for arc, a := range g.Arcs {
		switch {
		case arc.Type == client.Owner && arc.From == key && !a.Missing:
			owners = append(owners, nameIn(g, arc.To))
		case arc.Type != client.Owner && arc.To == key:
			users = append(users, nameIn(g, arc.From))
		}
	}
	return users, owners
}

func nameIn(g *client.Graph, key client.Key) string {
	if v := g.Vertices[key]; v != nil {
		return v.Summary.Kind + "/" + key.Name
	}
	return key.Resource + "/" + key.Name
}

func sorted(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}

var objectName = regexp.MustCompile(`\b[A-Z]\w+/[\w.-]+`)

// referrers are the objects below "Referred to by" of an explanation, without owned objects.
func referrers(explained string) []string {
	_, below, _ := strings.Cut(explained, "Referred to by:")
	below, _, _ = strings.Cut(below, "\n\n")
	var names []string
	for line := range strings.Lines(below) {
		if !strings.Contains(line, "is owned by it") {
			names = append(names, objectName.FindAllString(line, 1)...)
		}
	}
	return names
}

package command

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"graphview.dev/client"
)

// messagesOf are those of a graph of Deployments with pods of some kilobytes, in
// the words of the server.
func messagesOf(vertices int) [][]byte {
	padding := strings.Repeat("a word in a pod ", 300)
	key := func(group, resource, name string) string {
		return fmt.Sprintf(`{"g":%q,"v":"v1","r":%q,"ns":"shop","n":%q}`, group, resource, name)
	}
	var messages [][]byte
	var actions []string
	flush := func(tail string) {
		messages = append(messages, []byte(`{"actions":[`+strings.Join(actions, ",")+`]`+tail+`}`))
		actions = nil
	}
	vertex := func(k, kind, status string) {
		actions = append(actions, fmt.Sprintf(`{"svx":{"vx":%s,"o":{"kind":%q,"metadata":{"annotations":{"a":%q}},"status":{%s}}}}`, k, kind, padding, status))
	}
	arc := func(from, t, to string) {
		actions = append(actions, fmt.Sprintf(`{"sarc":{"s":%s,"d":%s,"t":%q}}`, from, to, t))
	}
	for n := 0; n < vertices; n += 10 {
		deployment, set, config := key("apps", "deployments", fmt.Sprint("d", n)), key("apps", "replicasets", fmt.Sprint("d", n)), key("", "configmaps", fmt.Sprint("d", n))
		vertex(deployment, "Deployment", "")
		vertex(set, "ReplicaSet", "")
		vertex(config, "ConfigMap", "")
		arc(set, "or", deployment)
		for i := range 7 {
			pod := key("", "pods", fmt.Sprint("d", n, "-", i))
			vertex(pod, "Pod", `"phase":"Pending"`)
			arc(pod, "or", set)
			arc(pod, "r", config)
			arc(pod, "r", key("", "configmaps", "d0"))
		}
		if len(actions) > 200 {
			flush("")
		}
	}
	flush(`,"rev":"1","synced":true`)
	return messages
}

// BenchmarkTree is what a tree costs this side of the network: messages are read
// and drawn. The goal for 5,000 vertices is a second.
func BenchmarkTree(b *testing.B) {
	messages := messagesOf(5000)
	b.ReportAllocs()
	for b.Loop() {
		g := &client.Graph{}
		for _, text := range messages {
			var m client.Message
			if err := json.Unmarshal(text, &m); err != nil {
				b.Fatal(err)
			}
			g.Apply(&m)
		}
		if len(g.Vertices) != 5000 {
			b.Fatalf("%d vertices", len(g.Vertices))
		}
		c := &cli{IOStreams: genericiooptions.IOStreams{Out: io.Discard}, mapper: offlineView}
		if err := c.draw(b.Context(), &view{cli: c, namespace: "shop"}, g, shape{}, []string{"resource == 'deployments'"}); err != nil {
			b.Fatal(err)
		}
	}
}

// Roots come in the order of their expressions; what cannot be evaluated is none.
func TestRoots(t *testing.T) {
	g := &client.Graph{}
	for _, text := range messagesOf(20) {
		var m client.Message
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatal(err)
		}
		g.Apply(&m)
	}
	keys, err := roots(t.Context(), g, []string{"obj.status.phase == 'Pending' && name.endsWith('-0')", "resource == 'deployments'", "name == 'd0-0'"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, key := range keys {
		got = append(got, key.String())
	}
	want := []string{"pods/shop/d0-0", "pods/shop/d10-0", "deployments.apps/shop/d0", "deployments.apps/shop/d10"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := roots(t.Context(), g, []string{"nothing"}); err == nil {
		t.Error("what does not compile is no error")
	}
}

package command

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// TestAgentFollows: an agent that subscribes to the problems of a graph is notified when an edit changes the graph, and
// an answer has the revision that it was made from.
func TestAgentFollows(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	folder := t.TempDir()
	write := func(secret string) {
		text := strings.ReplaceAll(application(t, "shop"), "{name: DATABASE_HOST, value: postgres}\n        - name: DATABASE_PASSWORD\n          valueFrom:\n            secretKeyRef: {name: postgres-credentials",
			"{name: DATABASE_HOST, value: postgres}\n        - name: DATABASE_PASSWORD\n          valueFrom:\n            secretKeyRef: {name: "+secret)
		if err := os.WriteFile(filepath.Join(folder, "shop.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("postgres-credential")
	in, ask := io.Pipe()
	answers, out := io.Pipe()
	done := make(chan int)
	go func() {
		done <- Run(t.Context(), "v0.0.0", []string{"mcp", "--from", folder}, genericiooptions.IOStreams{In: in, Out: out, ErrOut: os.Stderr})
	}()
	updated := make(chan string, 100)
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "v0"}, &mcp.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { updated <- r.Params.URI },
	})
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: answers, Writer: ask}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const uri = "graphview://shop/local"
	if err := session.Subscribe(t.Context(), &mcp.SubscribeParams{URI: uri}); err != nil {
		t.Fatal(err)
	}
	read := func() (text, revision string) {
		answer, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil || len(answer.Contents) != 1 {
			t.Fatalf("%v, %v", answer, err)
		}
		for _, of := range answer.Contents[0].Meta["graphview.dev/revisions"].(map[string]any) {
			revision, _ = of.(string)
		}
		return answer.Contents[0].Text, revision
	}
	before, revision := read()
	if !strings.Contains(before, "Secret/postgres-credential ") || revision == "" {
		t.Errorf("revision %q:\n%s", revision, before)
	}
	if _, again := read(); again != revision {
		t.Errorf("revision %q, then %q of the same graph", revision, again)
	}
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "problems"})
	if err != nil || result.Meta["graphview.dev/revisions"] == nil {
		t.Errorf("a tool's answer has no revision: %v, %v", result, err)
	}
	write("postgres-credentials")
	now := before
	for now == before {
		select {
		case of := <-updated:
			if of != uri {
				t.Errorf("%s is updated", of)
			}
			var next string
			if now, next = read(); now != before && next == revision {
				t.Errorf("the revision is still %q", next)
			}
		case <-t.Context().Done():
			t.Fatal("there is no notification")
		}
	}
	if !strings.Contains(now, "No problems") {
		t.Errorf("after the edit:\n%s", now)
	}
	if err := session.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: uri}); err != nil {
		t.Error(err)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	<-done // the client has closed both pipes, so the exit code says nothing
}

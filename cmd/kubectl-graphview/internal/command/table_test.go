package command

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"graphview.dev/client"
)

// TestWriteTable: a line for each object, by its name, with what is known of it.
func TestWriteTable(t *testing.T) {
	var out strings.Builder
	c := &cli{IOStreams: genericiooptions.IOStreams{Out: &out}, mapper: groups}
	service := client.Key{Version: "v1", Resource: "services", Namespace: "shop", Name: "web"}
	part := client.Key{Group: "a.example.com", Version: "v1", Resource: "parts", Namespace: "other", Name: "p"}
	secret := client.Key{Version: "v1", Resource: "secrets", Namespace: "shop", Name: "token"}
	g := &client.Graph{Vertices: map[client.Key]*client.Vertex{
		service: {Key: service, Summary: &client.Summary{Kind: "Service", Health: "ok", Created: time.Now().Add(-150 * time.Minute).Unix()}},
		part:    {Key: part, Summary: &client.Summary{Kind: "Part", Health: "degraded", Why: "Broken\x1b[2J", Ready: &[2]int64{1, 3}}},
		secret:  {Key: secret, Summary: &client.Summary{Kind: "Secret"}},
	}}
	if err := c.writeTable("shop", g); err != nil {
		t.Fatal(err)
	}
	want := `OBJECT         READY   HEALTH     REASON       AGE
Part/other/p   1/3     degraded   Broken?[2J   -
Secret/token   -       -          -            -
Service/web    -       ok         -            150m
`
	want = strings.ReplaceAll(want, "?", "\uFFFD")
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

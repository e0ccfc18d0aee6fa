package command

import (
	"bytes"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"graphview.dev/client"
)

// TestImpactWithoutObjects: a group without objects, from a server of another version, has no line.
func TestImpactWithoutObjects(t *testing.T) {
	var out bytes.Buffer
	c := &cli{IOStreams: genericiooptions.IOStreams{Out: &out}, mapper: offlineView}
	c.drawImpact(&view{cli: c, namespace: "shop", name: "storefront"}, &client.Impact{
		Object: client.Key{Version: "v1", Resource: "pods", Namespace: "shop", Name: "a"},
		Counts: map[client.Verdict]int{client.Deleted: 2},
		Groups: []client.ImpactGroup{{Verdict: client.Deleted}},
	})
	if !strings.Contains(out.String(), "deleted (2)") {
		t.Errorf("%q", out.String())
	}
}

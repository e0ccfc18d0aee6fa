package intake

import (
	"testing"

	"graphview.dev/graphview/resources"
)

// TestEndOfOtherFeed: the end of a feed of other objects than Secrets and ConfigMaps looks at no
// release.
func TestEndOfOtherFeed(_ *testing.T) {
	in := new(Intake) // without releases: it panics if it looks at them
	(&Feed{intake: in, resource: resources.Resource{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}}).Remove()
}

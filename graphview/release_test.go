package graphview

import (
	"testing"

	"graphview.dev/graphview/resources"
)

// TestEndOfOtherFeed: the end of a feed of other objects than Secrets and ConfigMaps looks at no
// release.
func TestEndOfOtherFeed(_ *testing.T) {
	e := new(Engine) // without releases: it panics if it looks at them
	e.removeReleases(&feed{resource: resources.Resource{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}})
}

package chart

import (
	"path/filepath"
	"strings"
	"testing"

	"graphview.dev/test/fixture"
)

// eachSample: each sample is accepted and served as it is, also those for GitOps
// tools that are not there.
func (c *cluster) eachSample(t *testing.T) {
	namespaces(t, "flux-system", "argocd")
	files, err := filepath.Glob(filepath.Join(root, "config", "samples", "graphview_*.yaml"))
	if err != nil || len(files) < 6 {
		t.Fatalf("%d samples: %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "graphview_"), ".yaml")
		namespace := "shop"
		switch name {
		case "flux":
			namespace = "flux-system"
		case "argocd":
			namespace = "argocd"
		}
		applyFile(t, file)
		c.kubectl(t, "wait", "--for=condition=Accepted", "-n", namespace, "graphview/"+name, fixture.Timeout())
		c.kubectl(t, "wait", "--for=condition=Ready", "-n", namespace, "graphview/"+name, fixture.Timeout())
		if name == "flux" || name == "argocd" {
			continue // their roots are not there
		}
		eventually(t, func() string {
			if n := c.kubectl(t, "get", "-n", namespace, "graphview/"+name, "-o", "jsonpath={.status.vertices}"); n == "" || n == "0" {
				return name + " shows nothing"
			}
			return ""
		})
	}
	rule := filepath.Join(root, "config", "samples", "referencerule.yaml")
	applyFile(t, rule)
	c.kubectl(t, "wait", "--for=condition=Accepted", "-f", rule, fixture.Timeout())
}

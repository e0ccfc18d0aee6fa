package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
)

// secludedCRD is a resource of a group of its own.
const secludedCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.secluded.example.com}
spec:
  group: secluded.example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

// narrowRole gives the operator less than config/rbac does: not all groups.
const narrowRole = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: graphview-manager}
rules:
- {apiGroups: ["", apps, graphview.dev, apiextensions.k8s.io, apiregistration.k8s.io], resources: ["*"], verbs: [list, watch]}
- {apiGroups: [graphview.dev], resources: [graphviews], verbs: [get]}
- {apiGroups: [graphview.dev], resources: [graphviews/status], verbs: [patch]}
- {apiGroups: [events.k8s.io], resources: [events], verbs: [create, patch]}
`

const secludedView = `
queries:
- include: {resourceSelectorExpression: "group in ['', 'secluded.example.com'] && resource in ['configmaps', 'widgets']"}
namespaces: {names: [NAMESPACE]}
`

// A resource that the operator may not list holds up no other, is told of
// everywhere, and heals when the right is granted.
func TestForbiddenResource(t *testing.T) {
	root, err := env.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	rights := filepath.Join(root, "config", "rbac")
	namespace := newNamespace(t)
	fixture.KubectlAfter(t, cluster, "delete", "crd", "widgets.secluded.example.com")
	fixture.KubectlAfter(t, cluster, "apply", "-k", rights)
	apply(t, narrowRole)
	apply(t, secludedCRD)
	kubectl(t, "wait", "--for=condition=Established", fixture.Timeout(), "crd/widgets.secluded.example.com")
	kubectl(t, "create", "configmap", "-n", namespace, "settings")
	eventually(t, func() string {
		if err := fixture.TryApply(t, cluster, "{apiVersion: secluded.example.com/v1, kind: Widget, metadata: {name: one, namespace: "+namespace+"}}"); err != nil {
			return err.Error()
		}
		return ""
	})

	spec := in(namespace, secludedView)
	declare(t, namespace, "view", spec)
	s := subscribe(t, throughAPIServer(t), namespace, "view")
	eventually(t, func() string {
		without := expected(t, namespace, "view", in(namespace, `
queries: [{include: {resourceSelectorExpression: "group == '' && resource == 'configmaps'"}}]
namespaces: {names: [NAMESPACE]}`))
		if diff := s.Differs(without); diff != "" {
			return "(-oracle, without widgets +subscriber):\n" + diff
		}
		return toldOfForbidden(t, namespace, s)
	})

	kubectl(t, "apply", "-k", rights)
	eventually(t, func() string {
		if diff := s.Differs(expected(t, namespace, "view", spec)); diff != "" {
			return "(-oracle +subscriber):\n" + diff
		}
		got, _ := statusOf(t, namespace, "view")
		if c := got.condition("Complete"); c.Status != "True" || len(got.Warnings) > 0 || len(s.Warnings()) > 0 {
			return fmt.Sprintf("after the right was granted: %+v, status warns %q, stream warns %v", c, got.Warnings, s.Warnings())
		}
		for _, row := range got.Resources {
			if !row.Synced || row.Message != "" || row.Objects == 0 {
				return fmt.Sprintf("row %+v", row)
			}
		}
		return ""
	})
}

// toldOfForbidden says where it is not said that widgets cannot be listed.
func toldOfForbidden(t *testing.T, namespace string, s *stream) string {
	t.Helper()
	got, _ := statusOf(t, namespace, "view")
	if c := got.condition("Ready"); c.Status != "True" {
		return fmt.Sprintf("condition %+v, want it true", c)
	}
	c := got.condition("Complete")
	if c.Status != "False" || !strings.Contains(c.Message, "widgets.secluded.example.com: ") || !strings.Contains(c.Message, "forbidden") {
		return fmt.Sprintf("condition %+v, want it false for widgets that are forbidden", c)
	}
	for _, row := range got.Resources {
		forbidden := row.Resource == "widgets"
		if row.Synced == forbidden || strings.Contains(row.Message, "forbidden") != forbidden {
			return fmt.Sprintf("row %+v", row)
		}
	}
	if len(got.Resources) != 2 || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "widgets") {
		return fmt.Sprintf("status has rows %+v and warnings %q", got.Resources, got.Warnings)
	}
	warnings := s.Warnings()
	if len(warnings) != 1 || warnings[0].Type != "INFORMER_SYNC_FAILED" || warnings[0].Attributes["r"] != "widgets" {
		return fmt.Sprintf("stream warns %v", warnings)
	}
	return ""
}

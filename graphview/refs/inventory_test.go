package refs

import (
	"strings"
	"testing"

	"graphview.dev/graphview/graph"
)

func TestParseInventoryID(t *testing.T) {
	for id, want := range map[string]string{
		"shop_web_apps_Deployment": "apps/Deployment shop/web",
		"shop_web__Service":        "core/Service shop/web",
		"_shop__Namespace":         "core/Namespace -/shop",
		"_system__node-proxier_rbac.authorization.k8s.io_ClusterRole": "rbac.authorization.k8s.io/ClusterRole -/system:node-proxier",
		"shop_a__b__c_rbac.authorization.k8s.io_Role":                 "rbac.authorization.k8s.io/Role shop/a:b:c",
		"shop_a_b_apps_Deployment":                                    "",
		"shop_web_apps_":                                              "",
		"shop__apps_Deployment":                                       "",
		"shop_web":                                                    "",
		"web":                                                         "",
		"":                                                            "",
		"___":                                                         "",
		"shop_web_apps_Deployment_extra_v1_apps_Deployment": "",
	} {
		ref, ok := parseInventoryID(id)
		got := ""
		if ok {
			ref.Type = graph.Direct
			got = strings.TrimPrefix(renderOne(&ref), "r ")
		}
		if got != want {
			t.Errorf("%q: %q, want %q", id, got, want)
		}
	}
}

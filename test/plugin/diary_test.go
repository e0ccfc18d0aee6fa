package plugin

// diary are the steps that an evaluation took with the plugin and stumbled at. Those of its
// graphs are in needs.
var diary = map[string]step{
	"an owner's references are said once": {
		args: []string{"tree", "web", "deployment/web"}, want: []string{"mounts ConfigMap/settings", "reads env of Secret/token"},
		once: []string{"ConfigMap/settings", "Secret/token"},
	},
	"equal pods are one line":            {args: []string{"tree", "namespace", "deployment/many"}, want: []string{"Pod ×20"}},
	"what is optional is not missing":    {args: []string{"tree", "web"}, want: []string{"ConfigMap/optional  absent, optional"}, never: []string{"MISSING"}},
	"nor is what the view leaves out":    {args: []string{"tree", "namespace", "rolebinding/readers"}, want: []string{"binds ServiceAccount/kube-system/robot  outside the view"}, never: []string{"MISSING"}},
	"and neither is listed as missing":   {args: []string{"tree", "namespace", "--missing"}, want: []string{"Secret/pay-missing"}, never: []string{"robot", "ConfigMap/optional"}},
	"nor as a problem":                   {args: []string{"problems", "namespace"}, want: []string{"Secret/pay-missing"}, never: []string{"robot", "ConfigMap/optional"}, code: 1},
	"explain says how old and labelled":  {args: []string{"explain", "namespace", "deployment/pay"}, want: []string{"created ", "labels app.kubernetes.io/instance=pay"}},
	"explain says whom a binding binds":  {args: []string{"explain", "rbac", "rolebinding/readers"}, want: []string{"User/alice", "Group/devs", "ServiceAccount/web"}},
	"and who has a role":                 {args: []string{"explain", "rbac", "role/reader"}, want: []string{"RoleBinding/readers", "for Group/devs, User/alice"}},
	"explain says why nothing is wrong":  {args: []string{"explain", "namespace", "deployment/web"}, want: []string{"absent: it does not exist, and is optional"}},
	"GraphViews make no noise":           {args: []string{"tree", "namespace"}, want: []string{"Deployment/web"}, never: []string{"GraphView/", "Event/", "Lease/"}},
	"a Gateway, and what it routes to":   {args: []string{"tree", "public"}, want: []string{"Gateway/public", "HTTPRoute/web", "routes to Service/web", "selects Pod/web-"}, never: []string{"HTTPRoute/other", "Deployment/"}},
	"a part of a view, by who asks":      {args: []string{"tree", "network", "gateway/public", "--reverse"}, want: []string{"HTTPRoute/web", "attached"}},
	"a picture that a browser shows":     {args: []string{"get", "web", "-o", "html"}, want: []string{"<html", "settings"}},
	"a drawing that says what is what":   {args: []string{"get", "web", "-o", "mermaid"}, want: []string{"mounts", "settings<br/>configmaps", "optional"}},
	"all graphs that there are":          {args: []string{"list", "-A"}, want: []string{"NAMESPACE", "public", "network"}},
	"a mistake of form in plain words":   {args: []string{"validate", "-f", "testdata/needs/form.yaml"}, want: []string{"spec.namespaces: must be a map, is a list"}, code: 1},
	"a name that colours the terminal":   {args: []string{"validate", "-f", "testdata/needs/control.yaml"}, want: []string{"GraphView needs/\uFFFD[31mred: metadata.name"}, never: []string{"\x1b"}, code: 1},
	"a kind that nobody knows":           {args: []string{"tree", "web", "foo/bar"}, want: []string{`the server has no kind "foo"`}, code: 1},
	"an object that is not in the graph": {args: []string{"tree", "web", "deployment/wep"}, want: []string{"did you mean deployment/web?"}, code: 1},
	"a view that is elsewhere":           {args: []string{"tree", "storefront"}, want: []string{`there is no GraphView "storefront"`}, code: 1},
}

package workload

import (
	"fmt"

	"graphview.dev/test/oracle"
)

// Views over one namespace and its neighbour, of every sort that a spec allows.
func Views(red, blue string) map[string]oracle.View {
	include := func(expression string, filter oracle.Filter) oracle.Query {
		return oracle.Query{Include: &oracle.Include{ResourceSelectorExpression: expression, Object: filter}}
	}
	exclude := oracle.Query{Exclude: &oracle.Exclude{ResourceSelectorExpression: "resource in ['events', 'controllerrevisions', 'leases']"}}
	core := "group in ['', 'apps', 'batch', 'discovery.k8s.io']"
	both := &oracle.Namespaces{Names: []string{red, blue}}
	policies := "group == 'networking.k8s.io' && resource == 'networkpolicies' || group == '' && resource == 'pods'"
	web := "group == 'apps' && resource == 'deployments' && name.startsWith('web')"
	return map[string]oracle.View{
		"everything": {Queries: []oracle.Query{exclude, include(core+" && namespaced", oracle.Filter{})}, Namespaces: both},
		"one namespace": {
			Queries:    []oracle.Query{exclude, include(core, oracle.Filter{})},
			Namespaces: &oracle.Namespaces{Names: []string{red}},
		},
		"rooted": {
			Queries: []oracle.Query{exclude, include(core+" && namespaced", oracle.Filter{})}, Namespaces: both,
			Roots: &oracle.Roots{ObjectSelectorExpressions: []string{web}},
		},
		"rooted against owners": {
			Queries: []oracle.Query{exclude, include(core+" && namespaced", oracle.Filter{})}, Namespaces: both,
			Roots: &oracle.Roots{ObjectSelectorExpressions: []string{web}, IgnoreArcDirection: []string{"or"}},
		},
		"up": {
			Queries: []oracle.Query{exclude, include(core+" && namespaced", oracle.Filter{})}, Namespaces: both,
			Roots: &oracle.Roots{ObjectSelectorExpressions: []string{"resource in ['configmaps', 'secrets'] && name.endsWith('1')"}, Follow: &oracle.Follow{Direction: "Up"}},
		},
		"down, not far": {
			Queries: []oracle.Query{exclude, include(core+" && namespaced", oracle.Filter{})}, Namespaces: both,
			Roots: &oracle.Roots{ObjectSelectorExpressions: []string{web}, Follow: &oracle.Follow{Direction: "Down", Depth: 2}},
		},
		"namespaces by selectors": {
			Queries: []oracle.Query{include(policies+" || group == '' && resource == 'namespaces'", oracle.Filter{})}, Namespaces: both,
		},
		"rooted by selectors": {
			Queries: []oracle.Query{include(policies, oracle.Filter{}), include("group == '' && resource == 'namespaces'", oracle.Filter{LabelSelector: "colour"})},
			Roots:   &oracle.Roots{ObjectSelectorExpressions: []string{"resource == 'networkpolicies' && name != 'policy-2'"}},
		},
		"selectors without namespaces": {Queries: []oracle.Query{include(policies, oracle.Filter{})}, Namespaces: both},
		"filtered": {
			Queries: []oracle.Query{
				include("resource == 'pods' && group == ''", oracle.Filter{LabelSelector: "tier in (front, back)"}),
				include("resource == 'configmaps'", oracle.Filter{ObjectSelectorExpression: "!has(obj.data) || !('hidden' in obj.data)"}),
				include("resource == 'services' && group == ''", oracle.Filter{FieldSelector: "metadata.name!=svc-1"}),
				include("resource == 'secrets'", oracle.Filter{ObjectSelectorExpression: "'tier' in labels"}),
			},
			Namespaces: both,
		},
		"parts": {
			Queries: []oracle.Query{
				include("resource in ['pods', 'configmaps', 'secrets'] && group == ''", oracle.Filter{JSONPath: "{.metadata.labels}"}),
			},
			Namespaces: both,
		},
		"namespaces by label": {
			Queries:    []oracle.Query{include("resource in ['pods', 'configmaps', 'serviceaccounts'] && group == ''", oracle.Filter{})},
			Namespaces: &oracle.Namespaces{LabelSelector: "colour=" + Colour(red)},
		},
		"namespaces by expression": {
			Queries:    []oracle.Query{include("resource in ['pods', 'configmaps'] && group == ''", oracle.Filter{})},
			Namespaces: &oracle.Namespaces{ObjectSelectorExpression: fmt.Sprintf("name == '%s' && labels[?'colour'].orValue('') != ''", blue)},
		},
	}
}

// Colour is the value of the label `colour` by which a view of [Views] selects
// namespaces.
func Colour(red string) string { return "of-" + red }

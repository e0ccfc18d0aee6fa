package oracle

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// resource is a served resource, with the filter of the query that selects it.
type resource struct {
	schema.GroupVersionResource
	kind       string
	namespaced bool
	filter     Filter
}

// discover returns all resources that can be listed and watched, without groups whose
// discovery fails.
func discover(config *rest.Config, connections *http.Client) ([]resource, error) {
	client, err := discovery.NewDiscoveryClientForConfigAndClient(config, connections)
	if err != nil {
		return nil, fmt.Errorf("discovery client: %w", err)
	}
	_, lists, err := client.ServerGroupsAndResources()
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return nil, fmt.Errorf("discovery: %w", err)
	}
	var found []resource
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, fmt.Errorf("discovery: %w", err)
		}
		switch version.Group {
		case "extensions", "events.k8s.io": // the same objects under a second name
			continue
		case "stream.graphview.dev": // what is being tested
			continue
		}
		for _, r := range list.APIResources {
			if strings.Contains(r.Name, "/") || !slices.Contains(r.Verbs, "list") || !slices.Contains(r.Verbs, "watch") {
				continue
			}
			found = append(found, resource{GroupVersionResource: version.WithResource(r.Name), kind: r.Kind, namespaced: r.Namespaced})
		}
	}
	return found, nil
}

// choose applies the queries to each resource, first match wins, and keeps one
// version of each.
func choose(served []resource, queries []Query) ([]resource, error) {
	selectors, err := compileSelectors(queries)
	if err != nil {
		return nil, err
	}
	chosen := map[schema.GroupResource]resource{}
	for _, r := range served {
		query := match(r, queries, selectors)
		if query == nil || query.Include == nil {
			continue
		}
		r.filter = query.Include.Object
		if other, ok := chosen[r.GroupResource()]; !ok || newer(r.Version, other.Version) {
			chosen[r.GroupResource()] = r
		}
	}
	var all []resource
	for _, r := range chosen {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b resource) int { return strings.Compare(a.String(), b.String()) })
	return all, nil
}

// compileSelectors returns the expressions of the queries, in their order. To compile one takes a
// hundred times as long as to evaluate it for a resource.
func compileSelectors(queries []Query) ([]*expression, error) {
	var all []*expression
	for i, query := range queries {
		var text string
		if query.Include != nil {
			text = query.Include.ResourceSelectorExpression
		} else {
			text = query.Exclude.ResourceSelectorExpression
		}
		selector, err := compile(text)
		if err != nil {
			return nil, fmt.Errorf("query %d: %w", i, err)
		}
		all = append(all, selector)
	}
	return all, nil
}

// match returns the first query whose selector holds for a resource, nil if there is none.
func match(r resource, queries []Query, selectors []*expression) *Query {
	values := map[string]any{"group": r.Group, "version": r.Version, "resource": r.Resource, "namespaced": r.namespaced}
	for i, selector := range selectors {
		if selector.holds(values) {
			return &queries[i]
		}
	}
	return nil
}

var stable = regexp.MustCompile(`^v\d+$`)

// newer reports whether version a is preferred to b: stable before unstable, then by
// natural order.
func newer(a, b string) bool {
	if stable.MatchString(a) != stable.MatchString(b) {
		return stable.MatchString(a)
	}
	return slices.Compare(natural(a), natural(b)) > 0
}

var digits = regexp.MustCompile(`\d+|\D+`)

// natural splits a version into words that compare as strings, with its numbers padded so that they
// compare as numbers: v2beta10 is "v", "0…2", "beta", "0…10".
func natural(version string) []string {
	words := digits.FindAllString(version, -1)
	for i, word := range words {
		if number, err := strconv.ParseUint(word, 10, 64); err == nil {
			words[i] = fmt.Sprintf("%020d", number)
		}
	}
	return words
}

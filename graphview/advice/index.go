package advice

import (
	"fmt"
	"slices"
	"strings"

	"graphview.dev/graphview/resources"
)

// index finds resources by any of their names.
type index struct {
	groups    map[string][]resources.Resource
	versions  map[string]bool
	resources map[string][]resources.Resource
	kinds     map[string][]resources.Resource
	lower     map[string][]resources.Resource // by kind in lower case
	// looks caches the suggestions that took a comparison with all served names.
	looks map[Comparison]suggestion
}

// maxLooks is the maximum number of names that are compared with all served names. Each
// takes up to milliseconds.
const maxLooks = 32

func newIndex(served []resources.Resource) *index {
	x := &index{
		groups: map[string][]resources.Resource{}, versions: map[string]bool{}, resources: map[string][]resources.Resource{},
		kinds: map[string][]resources.Resource{}, lower: map[string][]resources.Resource{},
		looks: map[Comparison]suggestion{},
	}
	for _, r := range served {
		x.groups[r.Group] = append(x.groups[r.Group], r)
		x.versions[r.Version] = true
		x.resources[r.Resource] = append(x.resources[r.Resource], r)
		x.kinds[r.Kind] = append(x.kinds[r.Kind], r)
		kind := strings.ToLower(r.Kind)
		x.lower[kind] = append(x.lower[kind], r)
	}
	return x
}

// has reports whether the name is served. It returns true for variables other than
// group, version, resource and kind.
func (x *index) has(c Comparison) bool {
	switch c.Variable {
	case "group":
		return x.groups[c.Text] != nil
	case "version":
		return x.versions[c.Text]
	case "resource":
		return x.resources[c.Text] != nil
	case "kind":
		return x.kinds[c.Text] != nil
	default:
		return true
	}
}

// why returns the reason why comparisons match no served resource, "" if unknown.
func (x *index) why(compared []Comparison) string {
	for _, c := range compared {
		if s, ok := x.suggest(c); ok && (c.Variable != "version" || s.sure) {
			return s.String()
		}
	}
	texts := func(variable string) (out []string) {
		for _, c := range compared {
			if c.Variable == variable {
				out = append(out, c.Text)
			}
		}
		return out
	}
	groups, versions := texts("group"), texts("version")
	for _, c := range compared {
		var named []resources.Resource
		switch c.Variable {
		case "resource":
			named = x.resources[c.Text]
		case "kind":
			named = x.kinds[c.Text]
		}
		if len(named) == 0 {
			continue
		}
		in := slices.DeleteFunc(slices.Clone(named), func(r resources.Resource) bool { return len(groups) > 0 && !slices.Contains(groups, r.Group) })
		if len(in) == 0 {
			return fmt.Sprintf("%s is of group %s", c.Text, oneOf(named, func(r resources.Resource) string { return r.Group }))
		}
		if len(versions) > 0 && !slices.ContainsFunc(in, func(r resources.Resource) bool { return slices.Contains(versions, r.Version) }) {
			return fmt.Sprintf("%s is served in version %s", c.Text, oneOf(in, func(r resources.Resource) string { return r.Version }))
		}
	}
	for _, group := range groups {
		if in := x.groups[group]; len(groups) == 1 && len(versions) > 0 && !slices.ContainsFunc(in, func(r resources.Resource) bool { return slices.Contains(versions, r.Version) }) {
			return fmt.Sprintf("group %s is served in version %s", quoted(group), oneOf(in, func(r resources.Resource) string { return r.Version }))
		}
	}
	return ""
}

// unselected returns a message if the queries do not select a resource or kind of the
// comparisons, otherwise "". The index has the selected resources.
func (x *index) unselected(compared []Comparison) string {
	for _, c := range compared {
		if (c.Variable == "resource" || c.Variable == "kind") && !x.has(c) {
			return fmt.Sprintf("the queries do not select %s %s", c.Variable, quoted(c.Text))
		}
	}
	return ""
}

// maxAlternatives is the maximum number of alternatives in a message.
const maxAlternatives = 3

// oneOf joins at most maxAlternatives distinct values of resources with "or".
func oneOf(found []resources.Resource, value func(resources.Resource) string) string {
	var all []string
	for _, r := range found {
		if v := quoted(value(r)); !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	all = all[:min(len(all), maxAlternatives)]
	return strings.Join(all, " or ")
}

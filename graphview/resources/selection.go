package resources

import "fmt"

// Match decides about one resource: the index of the query that matched, if one
// did, and whether that query includes. An error means that this resource could
// not be decided.
type Match func(Resource) (query int, include, matched bool, err error)

// Selected is a resource that a view watches, in the one version it watches, and
// the index of the query that included this version.
type Selected struct {
	Resource Resource
	Query    int
}

// maxErrors bounds what Select reports of a query that fails for everything.
const maxErrors = 10

// Select applies match to each resource of the catalog, in the catalog's order,
// and keeps of the included versions of a group and resource the newest stable
// one (^v\d+$), else the newest unstable one, in natural order. The result is
// sorted by group and resource.
//
// A resource that match fails for is not selected in that version. Each makes
// one error, up to ten, then one error counts the rest.
func Select(c *Catalog, match Match) ([]Selected, []error) {
	var (
		out     []Selected
		errs    []error
		dropped int
	)
	for _, r := range c.All() {
		query, include, matched, err := match(r)
		switch {
		case err != nil && len(errs) < maxErrors:
			errs = append(errs, fmt.Errorf("%s: %w", r, err))
			continue
		case err != nil:
			dropped++
			continue
		case !matched || !include:
			continue
		}
		s := Selected{Resource: r, Query: query}
		last := len(out) - 1
		switch {
		case last < 0 || out[last].Resource.Group != r.Group || out[last].Resource.Resource != r.Resource:
			out = append(out, s)
		case CompareVersions(r.Version, out[last].Resource.Version) > 0:
			out[last] = s
		}
	}
	if dropped > 0 {
		errs = append(errs, fmt.Errorf("and %d more resources", dropped))
	}
	return out, errs
}

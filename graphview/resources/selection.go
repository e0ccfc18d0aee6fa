package resources

import (
	"cmp"
	"fmt"
	"strings"
)

// Match evaluates a view's queries for one resource. It returns whether a query matched,
// its index, and whether that query includes or excludes the resource. An error is about
// this resource only.
type Match func(Resource) (query int, include, matched bool, err error)

// Selected is a resource that a view watches, in the version that it watches, and
// the index of the query that included this version.
type Selected struct {
	Resource Resource
	Query    int
}

// maxErrors limits the errors of Select if a query fails for every resource.
const maxErrors = 10

// Select applies match to each resource of the catalog, in the catalog's order.
// Among the included versions of a resource it selects the newest stable version
// (^v\d+$), or else the newest unstable version, see CompareVersions. The result
// is sorted by group and resource.
//
// If match fails for a version of a resource, that version is not selected. Each
// failure is one error, up to ten; one more error counts the rest.
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

// CompareVersions orders versions by preference, the most preferred last: unstable
// versions before stable ones (v and a number), each in natural order. So v1alpha1 <
// v1beta1 < v1beta2 < v1beta10 < v2alpha1 < v1 < v2 < v10. Among unstable
// versions the number counts before the level: v2alpha1 is newer than v1beta1.
func CompareVersions(a, b string) int {
	if sa, sb := stable(a), stable(b); sa != sb {
		if sa {
			return 1
		}
		return -1
	}
	return compareNatural(a, b)
}

// stable reports whether the version matches ^v\d+$.
func stable(version string) bool {
	number, ok := strings.CutPrefix(version, "v")
	return ok && number != "" && digits(number) == len(number)
}

// compareNatural compares strings byte by byte, but runs of digits as numbers of
// any length. Strings that differ only in leading zeros compare as strings, which
// makes the order total.
func compareNatural(a, b string) int {
	for x, y := a, b; ; {
		switch {
		case x == "" || y == "":
			return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(a, b))
		case digits(x) > 0 && digits(y) > 0:
			n, m := digits(x), digits(y)
			if c := compareNumbers(x[:n], y[:m]); c != 0 {
				return c
			}
			x, y = x[n:], y[m:]
		case x[0] != y[0]:
			return cmp.Compare(x[0], y[0])
		default:
			x, y = x[1:], y[1:]
		}
	}
}

func compareNumbers(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// digits returns the number of decimal digits at the start of s.
func digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}

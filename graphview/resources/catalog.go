package resources

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Catalog is the set of resources that the cluster serves. It is immutable. A nil
// Catalog is empty.
type Catalog struct {
	resources []Resource
	failed    []Failure
}

// Failure is a group/version whose discovery failed. Its resources in the catalog are
// those of the previous catalog.
type Failure struct {
	Group, Version string
	Err            error
}

// NewCatalog returns a catalog. The arguments may be in any order. Groups that views
// never see are left out, see excluded.
func NewCatalog(resources []Resource, failed []Failure) *Catalog {
	c := &Catalog{
		resources: slices.DeleteFunc(slices.Clone(resources), func(r Resource) bool { return excluded(r.Group) }),
		failed:    slices.DeleteFunc(slices.Clone(failed), func(f Failure) bool { return excluded(f.Group) }),
	}
	slices.SortStableFunc(c.resources, compareResources)
	// Names are unique in a discovery document by contract, not by schema.
	c.resources = slices.CompactFunc(c.resources, func(a, b Resource) bool { return compareResources(a, b) == 0 })
	slices.SortFunc(c.failed, func(a, b Failure) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), compareNatural(a.Version, b.Version))
	})
	return c
}

// All returns every resource in every version, sorted by group, resource and
// version. The slice is shared: it must not be modified.
func (c *Catalog) All() []Resource {
	if c == nil {
		return nil
	}
	return slices.Clip(c.resources)
}

// Failed returns the group/versions whose discovery failed, sorted by group and
// version. The slice is shared: it must not be modified.
func (c *Catalog) Failed() []Failure {
	if c == nil {
		return nil
	}
	return slices.Clip(c.failed)
}

// Complete reports whether the discovery of every group/version worked.
func (c *Catalog) Complete() bool {
	return c != nil && len(c.failed) == 0
}

// equal compares failures by their text, because users see the text.
func (c *Catalog) equal(other *Catalog) bool {
	if c == nil || other == nil {
		return c == other
	}
	return slices.Equal(c.resources, other.resources) &&
		slices.EqualFunc(c.failed, other.failed, func(a, b Failure) bool {
			return a.Group == b.Group && a.Version == b.Version && a.Err.Error() == b.Err.Error()
		})
}

// lacks reports whether c lacks a resource of previous.
func (c *Catalog) lacks(previous *Catalog) bool {
	return slices.ContainsFunc(previous.All(), func(r Resource) bool {
		_, found := slices.BinarySearchFunc(c.All(), r, compareResources)
		return !found
	})
}

// listing is the result of one discovery. A group/version that the server does not
// serve is in neither map.
type listing struct {
	served map[schema.GroupVersion][]Resource
	failed map[schema.GroupVersion]error
}

// catalogAfter returns the catalog that replaces previous: the resources that are served,
// and the resources of previous whose group/version failed.
func (l listing) catalogAfter(previous *Catalog) *Catalog {
	var resources []Resource
	for gv, served := range l.served {
		if _, failed := l.failed[gv]; !failed {
			resources = append(resources, served...)
		}
	}
	for _, r := range previous.All() {
		if _, failed := l.failed[r.groupVersion()]; failed {
			resources = append(resources, r)
		}
	}
	failures := make([]Failure, 0, len(l.failed))
	for gv, err := range l.failed {
		failures = append(failures, Failure{Group: gv.Group, Version: gv.Version, Err: err})
	}
	return NewCatalog(resources, failures)
}

package advice

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// KindNotServed is about a kind that a ReferenceRule names.
const KindNotServed Reason = "KindNotServed"

// Kind is a kind that a spec names, and where.
type Kind struct {
	Path, Group, Kind string
}

// OfKinds finds the kinds that nothing serves, each once.
func OfKinds(named []Kind, served []Resource) []Finding {
	x := newIndex(served)
	var out []Finding
	said := map[Kind]bool{}
	looks := 0
	for _, k := range named {
		in := x.kinds[k.Kind]
		same := Kind{Group: k.Group, Kind: k.Kind}
		if said[same] || slices.ContainsFunc(in, func(r Resource) bool { return r.Group == k.Group }) {
			continue
		}
		said[same] = true
		message := "no API serves the kind " + quoted(k.Kind) + " of " + groupText(k.Group)
		switch {
		case slices.ContainsFunc(in, func(r Resource) bool { return r.Group == "" }) && isCore(k.Group):
			message += "; leave group out, or empty, for Kubernetes' core"
		case len(in) > 0:
			message += fmt.Sprintf("; it is of %s", oneOf(in, func(r Resource) string { return r.Group }))
		case len(x.named(k.Kind)) > 0:
			message += fmt.Sprintf("; did you mean %s?", oneOf(x.named(k.Kind), func(r Resource) string { return r.Kind }))
		default:
			if looks++; looks > maxLooks {
				break
			}
			if near := Nearest(k.Kind, slices.Collect(maps.Keys(x.kinds)), 1); len(near) > 0 {
				message += fmt.Sprintf("; did you mean %s?", quoted(near[0]))
			}
		}
		out = append(out, Finding{KindNotServed, k.Path, message})
	}
	return out
}

func groupText(group string) string {
	if group == "" {
		return "Kubernetes' core"
	}
	return "group " + quoted(group)
}

// isCore tells what people write for the core group.
func isCore(group string) bool {
	switch strings.ToLower(group) {
	case "core", "v1", "api", "legacy", "core/v1":
		return true
	}
	return false
}

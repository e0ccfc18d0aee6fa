package advice

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// suggestion is about a name that is not served.
type suggestion struct {
	what, name string // variable and text
	// meant is what to write instead, as an expression or a value; note says what
	// else there is to know.
	meant, note string
	// sure: the name is a mistake, even if more kinds are installed later.
	sure bool
}

func (s suggestion) String() string {
	text := fmt.Sprintf("the cluster serves no %s %s", s.what, quoted(s.name))
	if s.note != "" {
		text += ": " + s.note
	}
	if s.meant != "" {
		text += "; did you mean " + s.meant + "?"
	}
	return text
}

// suggest says what may have been meant by a name that is not served, and false if
// it is served.
func (x *index) suggest(c Comparison) (suggestion, bool) {
	if x.has(c) {
		return suggestion{}, false
	}
	if s, ok := x.looks[c]; ok {
		return s, true
	}
	s := suggestion{what: c.Variable, name: c.Text}
	name := strings.Trim(c.Text, " \t\r\n'\"")
	switch {
	case len(name) > maxName:
		return s, true
	case name == "*" || name == "all":
		s.note, s.sure = "names have no patterns; leave the comparison out to match all", true
		return s, true
	}
	look := false
	switch c.Variable {
	case "group":
		look = x.suggestGroup(&s, name)
	case "version":
		x.suggestVersion(&s, name)
	case "resource", "kind":
		look = x.suggestResource(&s, name)
	}
	look = look && len(x.looks) < maxLooks
	if look {
		x.look(&s, name)
	}
	if s.meant == "" && s.note == "" && c.Variable != "version" {
		s.note = "is its CustomResourceDefinition installed?"
	}
	if look {
		x.looks[c] = s
	}
	return s, true
}

// maxName is the longest name that is looked at closely.
const maxName = 253

// maxParts is how many parts of a name are looked up: a group, a version and a
// resource seldom have more.
const maxParts = 8

// never are groups without objects in any view: most of them serve the objects of other groups again.
var never = map[string]string{
	"events.k8s.io":         "its Events are those of the core group, ''",
	"extensions":            "what it had is in 'apps' and 'networking.k8s.io'",
	"stream.graphview.dev":  "graphs are made of objects and are none themselves",
	"metrics.k8s.io":        "its objects cannot be watched",
	"authorization.k8s.io":  "its objects cannot be listed",
	"authentication.k8s.io": "its objects cannot be listed",
}

// suggestGroup is about a group. It returns true if only a look at all groups can tell
// what was meant.
func (x *index) suggestGroup(s *suggestion, name string) (look bool) {
	group, version, split := strings.Cut(name, "/")
	lower := strings.ToLower(name)
	switch {
	case lower == "core" || lower == "v1" || lower == "core/v1" || name == "" || lower == "legacy" || lower == "api":
		s.note, s.meant, s.sure = "the core group is the empty text", "group == ''", true
	case never[lower] != "":
		s.note, s.sure = never[lower], true
	case split && x.groups[group] != nil:
		s.note, s.sure = "a version is no part of a group", true
		s.meant = fmt.Sprintf("group == %s && version == %s", quoted(group), quoted(version))
	case x.groups[lower] != nil:
		s.meant, s.sure = quoted(lower), true
	case len(x.named(name)) > 0:
		r := x.named(name)[0]
		s.note, s.sure = "that is a resource", true
		s.meant = fmt.Sprintf("resource == %s", quoted(r.Resource))
	default:
		return true
	}
	return false
}

func (x *index) suggestVersion(s *suggestion, name string) {
	group, version, split := strings.Cut(name, "/")
	lower := strings.ToLower(name)
	switch {
	case split && x.groups[group] != nil:
		s.note, s.sure = "a group is no part of a version", true
		s.meant = fmt.Sprintf("group == %s && version == %s", quoted(group), quoted(version))
	case x.versions[lower]:
		s.meant, s.sure = quoted(lower), true
	case x.versions["v"+lower]:
		s.meant, s.sure = quoted("v"+lower), true
	}
}

// suggestResource is about a resource or a kind. It returns true if only a look at all of
// them can tell what was meant.
func (x *index) suggestResource(s *suggestion, name string) (look bool) {
	value := func(r Resource) string {
		if s.what == "kind" {
			return r.Kind
		}
		return r.Resource
	}
	if found := x.named(name); len(found) > 0 {
		s.meant, s.sure = oneOf(found, value), true
		if s.what == "resource" && x.kinds[name] != nil {
			s.meant += " or kind == " + quoted(name)
		}
		return false
	}
	// pods,services; group/version/resource, resource.group, resource/subresource, PodList.
	if several := strings.FieldsFunc(name, func(r rune) bool { return r == ',' || r == ' ' }); len(several) > 1 && len(x.named(several[0])) > 0 {
		s.note, s.sure = fmt.Sprintf("several names are a list: %s in ['…', '…']", s.what), true
		return false
	}
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '/' || r == '.' })
	for _, part := range parts[:min(len(parts), maxParts)] {
		found := x.named(part)
		if len(found) == 0 || len(parts) < 2 {
			continue
		}
		if part == parts[0] && strings.Contains(name, "/") {
			s.note, s.meant, s.sure = "subresources are no objects", oneOf(found, value), true
			return false
		}
		r := found[0]
		for _, other := range found {
			if slices.Contains(parts, other.Group) || other.Group != "" && strings.Contains(name, other.Group) {
				r = other
			}
		}
		s.note, s.sure = "a group is no part of a "+s.what, true
		s.meant = fmt.Sprintf("group == %s && %s == %s", quoted(r.Group), s.what, quoted(value(r)))
		return false
	}
	if single, list := strings.CutSuffix(name, "List"); list && len(x.named(single)) > 0 {
		s.meant, s.sure = oneOf(x.named(single), value), true
		return false
	}
	if x.groups[name] != nil {
		s.note, s.meant, s.sure = "that is a group", "group == "+quoted(name), true
		return false
	}
	return true
}

// look looks at all names that are served.
func (x *index) look(s *suggestion, name string) {
	switch s.what {
	case "group":
		lower := strings.ToLower(name)
		first, _, _ := strings.Cut(lower, ".")
		var same []string
		for served := range x.groups {
			if start, _, _ := strings.Cut(served, "."); start == first && start != "" {
				same = append(same, served)
			}
		}
		if slices.Sort(same); len(same) > 0 {
			s.meant, s.sure = quoted(same[0]), !strings.Contains(name, ".") || strings.HasSuffix(name, ".k8s.io")
			return
		}
		s.near(lower, slices.Collect(maps.Keys(x.groups)))
	case "kind":
		s.near(name, slices.Collect(maps.Keys(x.kinds)))
	default:
		s.near(name, slices.Collect(maps.Keys(x.resources)))
	}
}

// named are the resources that people call so: by plural, kind, singular or short
// name, in any case.
func (x *index) named(name string) []Resource {
	lower := strings.ToLower(name)
	if long, ok := short[lower]; ok {
		lower = long
	}
	for _, found := range [][]Resource{x.resources[lower], x.lower[lower], x.lower[strings.TrimSuffix(lower, "s")]} {
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// near suggests names that are written alike. One letter in a name of some length
// is a mistake; more may be another name.
func (s *suggestion) near(name string, all []string) {
	found := Nearest(name, all, maxAlternatives)
	if len(found) == 0 {
		return
	}
	s.sure = len(name) >= 5 && distance(strings.ToLower(name), strings.ToLower(found[0])) == 1
	for i, f := range found {
		found[i] = quoted(f)
	}
	s.meant = strings.Join(found, " or ")
}

// short are kubectl's short names of Kubernetes' own resources.
var short = map[string]string{
	"cj": "cronjobs", "cm": "configmaps", "crd": "customresourcedefinitions", "csr": "certificatesigningrequests",
	"deploy": "deployments", "ds": "daemonsets", "ep": "endpoints", "ev": "events", "hpa": "horizontalpodautoscalers",
	"ing": "ingresses", "limits": "limitranges", "netpol": "networkpolicies", "no": "nodes", "ns": "namespaces",
	"pc": "priorityclasses", "pdb": "poddisruptionbudgets", "po": "pods", "pv": "persistentvolumes",
	"pvc": "persistentvolumeclaims", "quota": "resourcequotas", "rc": "replicationcontrollers", "rs": "replicasets",
	"sa": "serviceaccounts", "sc": "storageclasses", "sts": "statefulsets", "svc": "services",
}

// maxCompared is the longest name that is compared letter by letter.
const maxCompared = 63

// Nearest are the names that the author of name may have meant, the likeliest
// first, at most so many. A name and its beginning are alike, as are names in which
// a third of the letters differ, or two.
func Nearest(name string, others []string, most int) []string {
	lower := strings.ToLower(name)
	distances := map[string]int{}
	for _, other := range others {
		candidate := strings.ToLower(other)
		if other == "" || name == "" || len(name) > maxCompared || len(other) > maxCompared {
			continue
		}
		d := distance(lower, candidate)
		if strings.HasPrefix(candidate, lower) || strings.HasPrefix(lower, candidate) {
			d = min(d, 2)
		}
		if d <= max(2, len(name)/3) && d < len(name) {
			distances[other] = d
		}
	}
	names := make([]string, 0, len(distances))
	for other := range distances {
		names = append(names, other)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(distances[a], distances[b]), cmp.Compare(a, b))
	})
	return names[:min(len(names), most)]
}

// distance is how many letters have to be changed, added, removed or swapped with
// their neighbour to make a of b (Damerau and Levenshtein, without edits of what was
// swapped).
func distance(a, b string) int {
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(row[j]+cost, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}

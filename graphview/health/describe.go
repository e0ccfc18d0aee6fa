package health

import (
	"fmt"
	"slices"
	"strings"
)

// Describe says in words how this package judges objects of a kind, beyond the rules that
// hold for all kinds.
func Describe(kind Kind) string {
	if _, known := rules[kind]; known {
		return "a rule for this kind of Kubernetes"
	}
	if p, known := projects[kind]; known {
		return "a rule for this kind: " + p.describe()
	}
	return fmt.Sprintf("no rule for this kind; the first of the conditions %s that there is, else a word in status.health, status.phase, status.state or status.status, else status.ready, else unknown",
		strings.Join(usualConditions, ", "))
}

func (p *project) describe() string {
	var parts []string
	if len(p.bad) > 0 {
		parts = append(parts, "degraded while "+strings.Join(p.bad, " or ")+" is True")
	}
	if len(p.busy) > 0 {
		parts = append(parts, "progressing while "+strings.Join(p.busy, " or ")+" is True")
	}
	switch {
	case p.path != nil:
		parts = append(parts, "the word in "+strings.Join(p.path, "."))
	case len(p.good) == 1:
		parts = append(parts, "the condition "+p.good[0])
	case p.good == nil:
		parts = append(parts, "otherwise as any kind")
	default:
		parts = append(parts, "the first of the conditions "+strings.Join(p.good, ", ")+" that there is")
	}
	return strings.Join(parts, "; ")
}

// Usual reports whether a condition of this type is True when all is well, by the usage
// of many projects.
func Usual(kind string) bool { return slices.Contains(usualConditions, kind) }

// NamesFailure reports whether the type of a condition names a failure.
func NamesFailure(kind string) bool { return meaningOf(kind).fails }

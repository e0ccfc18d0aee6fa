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
	busy := ""
	if len(p.busy) > 0 {
		busy = "progressing while " + strings.Join(p.busy, " or ") + " is True; "
	}
	switch {
	case p.path != nil:
		return busy + "the word in " + strings.Join(p.path, ".")
	case p.good != "":
		return busy + "the condition " + p.good
	}
	return busy + "otherwise as any kind"
}

// Usual reports whether a condition of this type is True when all is well, by the usage
// of many projects.
func Usual(kind string) bool { return slices.Contains(usualConditions, kind) }

// NamesFailure reports whether the type of a condition names a failure.
func NamesFailure(kind string) bool { return newMeaning(kind).fails }

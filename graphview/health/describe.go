package health

import (
	"fmt"
	"strings"
)

// Describe says in words where the health of a kind's objects comes from, as far as
// this package decides. What [Of] asks of all kinds goes without saying.
func Describe(kind Kind) string {
	if _, known := rules[kind]; known {
		return "a rule for this kind of Kubernetes"
	}
	switch p := projects[kind].(type) {
	case *project:
		return "a rule for this kind: " + p.describe()
	case routeRule:
		return "a rule for this kind: the conditions of each parent in status.parents"
	}
	return fmt.Sprintf("no rule for this kind; the first of the conditions %s that there is, else a word in status.phase, status.state or status.health, else unknown",
		strings.Join(usualConditions, ", "))
}

func (p *project) describe() string {
	var parts []string
	for _, list := range []struct {
		kinds []string
		means State
	}{{p.bad, Degraded}, {p.paused, Suspended}, {p.busy, Progressing}} {
		if len(list.kinds) > 0 {
			parts = append(parts, fmt.Sprintf("%s while %s is True", list.means, strings.Join(list.kinds, " or ")))
		}
	}
	switch {
	case p.path != nil:
		parts = append(parts, "the word in "+strings.Join(p.path, "."))
	case len(p.good) == 1:
		parts = append(parts, "the condition "+p.good[0])
	default:
		parts = append(parts, "the first of the conditions "+strings.Join(p.good, ", ")+" that there is")
	}
	return strings.Join(parts, "; ")
}

package main

import (
	"slices"
	"strings"

	"graphview.dev/hack/miner/mine"
)

func note(all map[field]*sighting, f field, s sort, claim *mine.Claim, w *mine.World, v verdict, example string) {
	seen := all[f]
	if seen == nil {
		seen = &sighting{sort: s, class: claim.Class, reason: claim.Reason, example: example, world: w.Name, verdict: v}
		all[f] = seen
	}
	seen.count++
	if claim.Class > seen.class {
		seen.class, seen.reason, seen.example = claim.Class, claim.Reason, example
	}
}

func targetsOf(claim *mine.Claim) string {
	if claim.Selector {
		return "selector"
	}
	var kinds []string
	for _, t := range claim.Targets {
		kinds = append(kinds, t.Kind.String())
	}
	return strings.Join(kinds, "|")
}

func example(claim *mine.Claim) string {
	value := ""
	if len(claim.Targets) > 0 {
		value = " -> " + claim.Targets[0].Name
	}
	return claim.Object.Name + value + " in " + claim.Object.File
}

// sortOf tells which of the sorts a reference from a kind to another is of.
func (c *comparison) sortOf(from, to mine.Kind) sort {
	switch {
	case c.product.kinds.Builtin(from):
		return kubernetes
	case c.product.lists(from):
		return listed
	case c.product.kinds.Builtin(to):
		return unlistedToKubernetes
	}
	return unlistedToOwn
}

func agrees(a *arc, claim *mine.Claim) bool {
	if claim.Selector || a.selector {
		return claim.Selector && a.selector
	}
	return slices.Contains(claim.Targets, a.target)
}

// joins tells whether one of two paths leads to the other's value.
func joins(a, b string) bool {
	x, y := stepsOf(a), stepsOf(b)
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] && x[i] != "{}" && y[i] != "{}" {
			return false
		}
	}
	return true
}

// stepsOf cuts a path into its keys, [] and {}.
func stepsOf(path string) []string {
	var steps []string
	for path != "" {
		switch {
		case strings.HasPrefix(path, "['"):
			end := strings.Index(path, "']")
			if end < 0 {
				return append(steps, path)
			}
			steps, path = append(steps, path[2:end]), path[end+2:]
		case strings.HasPrefix(path, "[]"), strings.HasPrefix(path, "{}"):
			steps, path = append(steps, path[:2]), path[2:]
		case path[0] == '.':
			path = path[1:]
		default:
			end := strings.IndexAny(path, ".[{")
			if end < 0 {
				end = len(path)
			}
			if end == 0 {
				end = 1
			}
			steps, path = append(steps, path[:end]), path[end:]
		}
	}
	return steps
}

// claimedKind is the kind of what is claimed; a selector selects Kubernetes' pods for
// all that is known.
func claimedKind(claim *mine.Claim) mine.Kind {
	if claim.Selector {
		return mine.Kind{Name: "Pod"}
	}
	return claim.Targets[0].Kind
}

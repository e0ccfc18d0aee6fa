package delivery

import (
	"errors"

	"graphview.dev/graphview/impact"
)

// ParseImpact reads the question about the deletion of an object, which is written as a root is.
func ParseImpact(object, policy string) (impact.Question, error) {
	key, err := parseRoot(object)
	if err != nil {
		return impact.Question{}, err
	}
	p, ok := impact.ParsePolicy(policy)
	if !ok {
		return impact.Question{}, errors.New("propagationPolicy must be Background, Foreground or Orphan")
	}
	return impact.Question{Object: key, Policy: p}, nil
}

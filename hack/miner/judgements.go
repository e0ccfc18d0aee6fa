package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"graphview.dev/hack/miner/mine"
)

// verdict is what a person says of a field.
type verdict int

const (
	unjudged verdict = iota
	right
	wrong
	// alone: wrong where the miner does not say the same.
	alone
	// found: right where the product finds it, of which claims do not depend.
	found
)

// judgement is a verdict of fields.
type judgement struct {
	field   *regexp.Regexp // the kind, the path and the target, with blanks between
	verdict verdict
}

// judgements are what a person says of fields. The first that fits counts.
type judgements struct {
	all  []judgement
	said map[string]verdict
}

// readJudgements reads lines of right or wrong, the kind that refers, the path, what
// it refers to as the lists of fields have it, and a reason; * stands for anything. The
// words alone and found are about the product's references: wrong, unless the miner says
// the same, and right. What begins with # is a comment.
func readJudgements(file string) (*judgements, error) {
	j := &judgements{said: map[string]verdict{}}
	if file == "" {
		return j, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read judgements: %w", err)
	}
	for number, line := range strings.Split(string(text), "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		v := map[string]verdict{"right": right, "wrong": wrong, "alone": alone, "found": found}[words[0]]
		if len(words) < 4 || v == unjudged {
			return nil, fmt.Errorf("%s:%d: expected right, wrong, alone or found, a kind, a path and a target", file, number+1)
		}
		pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.Join(words[1:4], " ")), `\*`, `[^ ]*`)
		j.all = append(j.all, judgement{field: regexp.MustCompile("^" + pattern + "$"), verdict: v})
	}
	return j, nil
}

// of returns what is said of a field.
func (j *judgements) of(kind mine.Kind, path, target string) verdict {
	text := kind.String() + " " + path + " " + target
	if v, ok := j.said[text]; ok {
		return v
	}
	said := unjudged
	for i := range j.all {
		if j.all[i].field.MatchString(text) {
			said = j.all[i].verdict
			break
		}
	}
	j.said[text] = said
	return said
}

package scenarios

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"
)

// scenario is one file of testdata.
type scenario struct {
	options options
	steps   []step
}

// options are the section options.yaml.
type options struct {
	// As is a user with only the rights that the scenario gives to {{user}}.
	As string `json:"as"`
	// MaxVertices and SyncTimeout are those of the engine.
	MaxVertices int    `json:"maxVertices"`
	SyncTimeout string `json:"syncTimeout"`
}

// step is all sections of one number.
type step struct {
	number   int
	sections []section
}

type section struct{ verb, text string }

// name is how the section is called in the file.
func (s section) name(n int) string { return fmt.Sprintf("%s-%d", s.verb, n) }

func (s step) has(verb string) bool {
	return slices.ContainsFunc(s.sections, func(c section) bool { return c.verb == verb })
}

var sectionName = regexp.MustCompile(`^(?:(apply|touch|delete|view|rules)-(\d+)\.yaml|(want|actions|status|error)-(\d+))$`)

// parseScenario reads one file. view.yaml is short for view-0.yaml.
func parseScenario(text []byte) (scenario, error) {
	archive := txtar.Parse(text)
	var s scenario
	if strings.TrimSpace(string(archive.Comment)) == "" {
		return s, errors.New("no rule above the first section")
	}
	for _, f := range archive.Files {
		name := f.Name
		switch name {
		case "options.yaml":
			if err := yaml.UnmarshalStrict(f.Data, &s.options); err != nil {
				return s, fmt.Errorf("%s: %w", name, err)
			}
			continue
		case "view.yaml":
			name = "view-0.yaml"
		}
		m := sectionName.FindStringSubmatch(name)
		if m == nil {
			return s, fmt.Errorf("unknown section %q", f.Name)
		}
		number, err := strconv.Atoi(m[2] + m[4])
		if err != nil {
			return s, fmt.Errorf("section %q: %w", f.Name, err)
		}
		last := len(s.steps) - 1
		if last >= 0 && number < s.steps[last].number {
			return s, fmt.Errorf("section %q comes after step %d", f.Name, s.steps[last].number)
		}
		if last < 0 || number > s.steps[last].number {
			s.steps = append(s.steps, step{number: number})
			last++
		}
		s.steps[last].sections = append(s.steps[last].sections, section{verb: m[1] + m[3], text: string(f.Data)})
	}
	for _, p := range s.steps {
		if !p.has("want") && !p.has("actions") && !p.has("status") && !p.has("error") {
			return s, fmt.Errorf("step %d expects nothing", p.number)
		}
	}
	if len(s.steps) == 0 || !s.steps[0].has("view") {
		return s, errors.New("the first step has no view")
	}
	return s, nil
}

package manifest

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Problem is something that is wrong.
type Problem struct {
	File string
	// Line counts from 1; 0 means unknown.
	Line int
	// Object is KIND NAMESPACE/NAME, "" where there is none yet.
	Object string
	// Field is the path of what is wrong, "" for all of it.
	Field   string
	Message string
}

// String is one line, as compilers write them.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File + ":")
	if p.Line > 0 {
		fmt.Fprintf(&b, "%d:", p.Line)
	}
	for _, part := range []string{p.Object, p.Field} {
		if part != "" {
			b.WriteString(" " + part + ":")
		}
	}
	b.WriteString(" " + strings.ReplaceAll(p.Message, "\n", " "))
	return b.String()
}

// Declared is an object of a kind of GraphView, without its status.
type Declared struct {
	Line    int
	Content *unstructured.Unstructured
}

// Result is what checking came to.
type Result struct {
	Problems []Problem
	// Advice is about what is right and has no effect.
	Advice []Problem
	// Objects are those of our kinds, also where they have problems.
	Objects []Declared
	// Checked counts objects of our kinds, Skipped those of others.
	Checked, Skipped int
}

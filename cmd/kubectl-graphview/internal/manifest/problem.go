package manifest

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Problem is a problem of a manifest.
type Problem struct {
	File string
	// Line counts from 1; 0 means unknown.
	Line int
	// Object is KIND NAMESPACE/NAME, "" for a problem of the document.
	Object string
	// Field is the path of the wrong field, "" for the whole object.
	Field   string
	Message string
}

// String returns one line in the form of compilers.
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

// Result is the result of Check.
type Result struct {
	Problems []Problem
	// Advice is about valid parts without effect.
	Advice []Problem
	// Objects are the objects of our kinds, also those with problems.
	Objects []Declared
	// Checked counts objects of our kinds, and Skipped objects of other kinds.
	Checked, Skipped int
}

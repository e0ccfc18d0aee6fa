package main

import (
	"path/filepath"
	"testing"

	"graphview.dev/test/env"
)

// TestTargets wants each function of targets.txt to exist and to have breaks, and each break of
// equivalent.txt to be one of them.
func TestTargets(t *testing.T) {
	root, err := env.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	o := options{root: root}
	known := make(map[string]bool)
	for _, target := range o.targets() {
		mutants, err := mutantsOf(filepath.Join(root, filepath.FromSlash(target.folder)), target.function)
		if err != nil {
			t.Error(err)
			continue
		}
		if len(mutants) == 0 {
			t.Errorf("%s %s has nothing to break", target.folder, target.function)
		}
		for _, m := range mutants {
			known[target.name(m)] = true
		}
	}
	for name := range o.equivalent() {
		if !known[name] {
			t.Errorf("equivalent.txt names a break that there is not: %s", name)
		}
	}
}

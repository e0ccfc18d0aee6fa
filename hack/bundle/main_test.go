package main

import (
	"os"
	"path/filepath"
	"testing"

	"graphview.dev/test/must"
)

func TestDistIsCurrent(t *testing.T) {
	root := filepath.Join("..", "..")
	out := t.TempDir()
	if err := must.Try(func() { run(root, out, "") }); err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		want, err := os.ReadFile(filepath.Join(out, filepath.FromSlash(entry.name)))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(root, "dashboard", "dist", filepath.FromSlash(entry.name)))
		if err != nil || string(got) != string(want) {
			t.Errorf("dashboard/dist/%s is not what the modules say (%v): run make generate", entry.name, err)
		}
	}
}

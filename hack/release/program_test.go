package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"graphview.dev/test/must"
)

func TestDescribePrograms(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "program")
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	if err := must.Try(func() { describePrograms([]string{path}) }); err != nil {
		t.Fatal(err)
	}
	var materials struct {
		BomFormat  string
		Components []struct{ Purl string }
	}
	var statement struct {
		Subject []struct {
			Name   string
			Digest struct{ SHA256 string }
		}
	}
	for name, into := range map[string]any{"program.cdx.json": &materials, "provenance.intoto.json": &statement} {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(path), name))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatal(err)
		}
	}
	if materials.BomFormat != "CycloneDX" || len(materials.Components) == 0 {
		t.Errorf("materials %+v", materials)
	}
	if len(statement.Subject) != 1 || len(statement.Subject[0].Digest.SHA256) != 64 || statement.Subject[0].Name != "program" {
		t.Errorf("statement %+v", statement)
	}
	if err := must.Try(func() { describePrograms(nil) }); err == nil {
		t.Error("no program is no error")
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// specimen is an object of the tools' own test data.
type specimen struct {
	Name   string         `json:"name"`
	Object map[string]any `json:"object"`
}

// corpus writes the objects of the test data of kstatus and Argo CD, from their
// modules.
func corpus(out io.Writer) error {
	all, err := kstatusObjects()
	if err != nil {
		return err
	}
	more, err := argoObjects()
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(append(all, more...))
}

func moduleDir(path string) (string, error) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", path).Output()
	if err != nil {
		return "", fmt.Errorf("find module %s: %w", path, err)
	}
	return strings.TrimSpace(string(dir)), nil
}

// kstatusObjects returns the manifests in the source of kstatus' tests.
func kstatusObjects() ([]specimen, error) {
	dir, err := moduleDir("github.com/fluxcd/cli-utils")
	if err != nil {
		return nil, err
	}
	name := filepath.Join(dir, "pkg", "kstatus", "status", "status_compute_test.go")
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		return nil, err
	}
	var all []specimen
	for _, declaration := range file.Decls {
		general, ok := declaration.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range general.Specs {
			value, ok := spec.(*ast.ValueSpec)
			if !ok || len(value.Values) != 1 {
				continue
			}
			literal, ok := value.Values[0].(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				continue
			}
			text, err := strconv.Unquote(literal.Value)
			if err != nil {
				return nil, err
			}
			if s, ok := read("kstatus "+value.Names[0].Name, []byte(text)); ok {
				all = append(all, s)
			}
		}
	}
	return all, nil
}

func argoObjects() ([]specimen, error) {
	dir, err := moduleDir("github.com/argoproj/argo-cd/gitops-engine")
	if err != nil {
		return nil, err
	}
	names, err := filepath.Glob(filepath.Join(dir, "pkg", "health", "testdata", "*.yaml"))
	if err != nil {
		return nil, err
	}
	var all []specimen
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if s, ok := read("argocd "+strings.TrimSuffix(filepath.Base(name), ".yaml"), text); ok {
			all = append(all, s)
		}
	}
	return all, nil
}

// read parses a manifest. It returns false for other texts.
func read(name string, text []byte) (specimen, bool) {
	converted, err := yaml.YAMLToJSON(text)
	if err != nil {
		return specimen{}, false
	}
	var u unstructured.Unstructured
	if u.UnmarshalJSON(converted) != nil {
		return specimen{}, false
	}
	return specimen{name, u.Object}, true
}

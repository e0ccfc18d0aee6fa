package chart

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/installation"
)

// Where things are.
var root, helmBinary string

func TestMain(m *testing.M) {
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (int, error) {
	var err error
	if root, err = env.ModuleRoot(); err != nil {
		return 1, err
	}
	helmBinary = filepath.Join(root, "bin", "helm")
	if _, err := os.Stat(helmBinary); err != nil {
		return 1, fmt.Errorf("bin/helm is missing; make helm compiles it: %w", err)
	}
	return m.Run(), nil
}

// manager compiles the operator from the tree as it is, once.
var manager = sync.OnceValues(func() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	return fixture.Build(ctx, root, "chart", "manager", fixture.Race...)
})

// helm runs Helm in the repository, with settings of its own.
func helm(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	home := t.TempDir()
	command := exec.CommandContext(t.Context(), helmBinary, args...)
	command.Dir = root
	command.Env = append(os.Environ(), "HOME="+home, "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	err = command.Run()
	return out.String(), errs.String(), err
}

// template renders the chart with values, in YAML, as `helm template` does.
func template(t *testing.T, values string, args ...string) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(file, []byte(values), 0o600); err != nil {
		t.Fatal(err)
	}
	args = append([]string{"template", "graphview", "charts/graphview", "--namespace", env.ServiceNamespace, "--values", file}, args...)
	out, errs, err := helm(t, args...)
	if err != nil {
		t.Fatalf("helm %s: %v\n%s", strings.Join(args, " "), err, errs)
	}
	return []byte(out)
}

// objects are those of template, without those of helm test.
func objects(t *testing.T, values string, args ...string) []*unstructured.Unstructured {
	t.Helper()
	all, err := installation.Parse(template(t, values, append(args, "--skip-tests")...))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func eventually(t *testing.T, check func() string) {
	t.Helper()
	fixture.Eventually(t, 90*time.Second, 100*time.Millisecond, check)
}

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// chart is the chart's folder. The program runs at the root of the repository.
const chart = "charts/graphview"

// copies maps files to their copies in the chart, and patterns to folders of copies.
var copies = map[string]string{
	"config/crd/bases/*.yaml":             "files/crds",
	"config/rbac/*role*.yaml":             "files/rbac",
	"config/rbac/auth_delegation.yaml":    "files/rbac",
	"config/apiservice/apiservice.yaml":   "files/apiservice.yaml",
	"config/webhook/webhook.yaml":         "files/webhook.yaml",
	"config/webhook/*/role.yaml":          "files/webhook",
	"config/manager/certificates.yaml":    "files/certificates.yaml",
	"config/components/sharing/role.yaml": "files/sharing.yaml",
	"docs/dashboards/graphview.json":      "files/dashboard.json",
	"docs/alerts/graphview.yaml":          "files/alerts.yaml",
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "chart:", err)
		os.Exit(1)
	}
}

func run() error {
	wanted := map[string]bool{}
	for pattern, to := range copies {
		if err := copyAll(pattern, filepath.Join(chart, to), wanted); err != nil {
			return err
		}
	}
	if err := prune(filepath.Join(chart, "files"), wanted); err != nil {
		return err
	}
	schema, err := os.ReadFile(filepath.Join(chart, "values.schema.json"))
	if err != nil {
		return err
	}
	defaults, err := os.ReadFile(filepath.Join(chart, "values.yaml"))
	if err != nil {
		return err
	}
	table, err := render(schema, defaults)
	if err != nil {
		return err
	}
	page := filepath.Join(chart, "README.md")
	before, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	after, err := splice(string(before), table)
	if err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}
	return write(page, []byte(after))
}

// copyAll copies the files of a pattern, and records the names of the copies.
func copyAll(pattern, to string, wanted map[string]bool) error {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("%s: there is no such file", pattern)
	}
	for _, file := range files {
		target := to
		if filepath.Ext(to) == "" {
			target = filepath.Join(to, filepath.Base(file))
		}
		wanted[target] = true
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := write(target, text); err != nil {
			return err
		}
	}
	return nil
}

// prune removes copies of deleted files.
func prune(dir string, wanted map[string]bool) error {
	return filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || wanted[path] {
			return err
		}
		return os.Remove(path)
	})
}

// write does not touch a file that has the right content.
func write(path string, text []byte) error {
	if present, err := os.ReadFile(path); err == nil && bytes.Equal(present, text) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

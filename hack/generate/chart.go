package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"graphview.dev/test/document"
	"graphview.dev/test/must"
)

// chart is the folder of the Helm chart.
const chart = "charts/graphview"

// copies maps files to their copies in the chart, and patterns to folders of copies.
var copies = map[string]string{
	"config/crd/bases/*.yaml":           "files/crds",
	"config/rbac/*role*.yaml":           "files/rbac",
	"config/rbac/auth_delegation.yaml":  "files/rbac",
	"config/apiservice/apiservice.yaml": "files/apiservice.yaml",
	"config/webhook/webhook.yaml":       "files/webhook.yaml",
	"config/webhook/*/role.yaml":        "files/webhook",
	"config/manager/certificates.yaml":  "files/certificates.yaml",
	"docs/dashboards/graphview.json":    "files/dashboard.json",
	"docs/alerts/graphview.yaml":        "files/alerts.yaml",
	"docs/alerts/runbooks.md":           "files/runbooks.txt",
}

// writeChart copies files into the chart, removes copies of deleted files, and writes the table of
// values. The meaning of a value is only in values.schema.json, and its default only in values.yaml.
func writeChart() {
	wanted := map[string]bool{}
	for pattern, to := range copies {
		copyAll(pattern, filepath.Join(chart, to), wanted)
	}
	prune(filepath.Join(chart, "files"), wanted)
	schema := must.Get(os.ReadFile(filepath.Join(chart, "values.schema.json")))
	defaults := must.Get(os.ReadFile(filepath.Join(chart, "values.yaml")))
	table := valuesTable(schema, defaults)
	must.Do(document.Replace(filepath.Join(chart, "README.md"), valuesBegin, valuesEnd, "\n"+table+"\n"))
}

// copyAll copies the files of a pattern, and records the names of the copies.
func copyAll(pattern, to string, wanted map[string]bool) {
	files := must.Get(filepath.Glob(pattern))
	if len(files) == 0 {
		must.Do(fmt.Errorf("%s: there is no such file", pattern))
	}
	for _, file := range files {
		target := to
		if filepath.Ext(to) == "" {
			target = filepath.Join(to, filepath.Base(file))
		}
		wanted[target] = true
		text := must.Get(os.ReadFile(file))
		write(target, text)
	}
}

// prune removes copies of deleted files.
func prune(dir string, wanted map[string]bool) {
	must.Do(filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || wanted[path] {
			return err
		}
		return os.Remove(path)
	}))
}

// write writes a file unless it has the content already.
func write(path string, text []byte) {
	if present, err := os.ReadFile(path); err == nil && bytes.Equal(present, text) {
		return
	}
	must.Do(os.MkdirAll(filepath.Dir(path), 0o755))
	must.Do(os.WriteFile(path, text, 0o644))
}

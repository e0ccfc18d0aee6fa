package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	kindschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"graphview.dev/test/must"
)

const kindsTable = "cmd/kubectl-graphview/internal/offline/kubernetes.txt"

// others are kinds of every API server with types in other modules.
var others = []string{
	"apiextensions.k8s.io v1 CustomResourceDefinition customresourcedefinitions cluster",
	"apiregistration.k8s.io v1 APIService apiservices cluster",
}

var (
	groupName = regexp.MustCompile(`const GroupName = "([^"]*)"`)
	typeName  = regexp.MustCompile(`^type (\w+) struct`)
)

// writeKinds writes group, version, kind, resource and scope of each kind, in its newest version, from
// the markers in the Go types of k8s.io/api in the module cache.
func writeKinds(ctx context.Context) {
	folder := strings.TrimSpace(string(must.Get(exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/api").Output())))
	newest := map[kindschema.GroupKind]string{}
	lines := map[kindschema.GroupKind]string{}
	for _, file := range must.Get(filepath.Glob(filepath.Join(folder, "*", "*", "types*.go"))) {
		served := filepath.Base(filepath.Dir(file))
		register := must.Get(os.ReadFile(filepath.Join(filepath.Dir(file), "register.go")))
		group := string(groupName.FindSubmatch(register)[1])
		if group == "extensions" || strings.HasPrefix(group, "internal.") {
			continue // not served any more, or not for users
		}
		for kind, namespaced := range kindsIn(must.Get(os.ReadFile(file))) {
			of := kindschema.GroupKind{Group: group, Kind: kind}
			if newest[of] != "" && version.CompareKubeAwareVersionStrings(newest[of], served) >= 0 {
				continue
			}
			newest[of] = served
			lines[of] = kindLine(of.WithVersion(served), namespaced)
		}
	}
	all := slices.Clone(others)
	for _, text := range lines {
		all = append(all, text)
	}
	slices.Sort(all)
	write(kindsTable, []byte("# Kubernetes' own kinds, from k8s.io/api. Written by make generate.\n"+strings.Join(all, "\n")+"\n"))
}

// kindLine returns the line of a kind. The core group is "core".
func kindLine(kind kindschema.GroupVersionKind, namespaced bool) string {
	plural, _ := meta.UnsafeGuessKindToResource(kind)
	group, scope := kind.Group, "cluster"
	if group == "" {
		group = "core"
	}
	if namespaced {
		scope = "namespaced"
	}
	return fmt.Sprintf("%s %s %s %s %s", group, kind.Version, kind.Kind, plural.Resource, scope)
}

// kindsIn returns the kinds that clients can list, and whether they are namespaced. The markers of a
// type are in the comments before it.
func kindsIn(source []byte) map[string]bool {
	found := map[string]bool{}
	var markers []string
	for raw := range bytes.Lines(source) {
		text := strings.TrimSpace(string(raw))
		if marker, ok := strings.CutPrefix(text, "// +genclient"); ok {
			markers = append(markers, marker)
		}
		if name := typeName.FindStringSubmatch(text); name != nil && slices.Contains(markers, "") && !slices.ContainsFunc(markers, unlisted) {
			found[name[1]] = !slices.Contains(markers, ":nonNamespaced")
		}
		if text != "" && !strings.HasPrefix(text, "//") {
			markers = nil
		}
	}
	return found
}

// unlisted reports whether a marker says that objects of the type are not listed, as reviews are not.
func unlisted(marker string) bool {
	return marker == ":noVerbs" || strings.HasPrefix(marker, ":onlyVerbs=") || strings.HasPrefix(marker, ":skipVerbs=") && strings.Contains(marker, "list")
}

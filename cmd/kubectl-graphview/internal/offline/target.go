package offline

import (
	"path"
	"path/filepath"
	"strings"
)

// targets are the namespaces into which Flux puts the objects of folders, by the folder in its repository.
type targets map[string]string

// targetNamespaces reads Flux' Kustomizations.
func targetNamespaces(raw []*Object) targets {
	all := targets{}
	for _, o := range raw {
		spec, _ := o.Content["spec"].(map[string]any)
		folder, namespace := path.Clean("/"+text(spec, "path")), text(spec, "targetNamespace")
		if strings.HasPrefix(text(o.Content, "apiVersion"), "kustomize.toolkit.fluxcd.io/") && folder != "/" && namespace != "" {
			all[folder+"/"] = namespace
		}
	}
	return all
}

// of returns the namespace for a file: that of the longest folder in its path, or "".
func (t targets) of(file string) (namespace string) {
	longest := 0
	for folder, of := range t {
		if len(folder) > longest && strings.Contains("/"+filepath.ToSlash(file), folder) {
			longest, namespace = len(folder), of
		}
	}
	return namespace
}

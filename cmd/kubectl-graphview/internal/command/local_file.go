package command

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/cmd/kubectl-graphview/internal/manifest"
	"graphview.dev/graphview/printable"
)

// fileView has the declarations of a file for --local.
type fileView struct {
	declared *v1alpha1.GraphView // nil without a file
	objects  []*v1alpha1.ReferenceRule
	rules    map[string]v1alpha1.ReferenceRuleSpec // the same, by name
}

// readView reads a GraphView, and any ReferenceRules, as an operator would accept them. Its errors are
// about the use of the command.
func (c *cli) readView(cmd *cobra.Command, file string) (fileView, error) {
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return fileView{}, c.asFrom(cmd, usagef(cmd, "-f %s: it is a folder, and -f takes the file of a GraphView: --from looks at manifests", file), file)
	}
	text, err := manifest.Read(file, c.In)
	if err != nil {
		return fileView{}, usagef(cmd, "-f: %w", err)
	}
	if file == manifest.Stdin {
		file = "<stdin>"
	}
	checker, err := manifest.New(manifest.Options{})
	if err != nil {
		return fileView{}, err
	}
	r := checker.Check(cmd.Context(), file, text)
	if len(r.Problems) > 0 {
		more := ""
		if n := len(r.Problems) - 1; n > 0 {
			more = fmt.Sprintf(" (and %s: see kubectl graphview validate)", count(n, "more problem"))
		}
		return fileView{}, usagef(cmd, "%s%s", printable.Text(r.Problems[0].String()), more)
	}
	view := fileView{rules: map[string]v1alpha1.ReferenceRuleSpec{}}
	for _, object := range r.Objects {
		switch object.Content.GetKind() {
		case "GraphView":
			if view.declared != nil {
				return fileView{}, usagef(cmd, "%s:%d: a second GraphView, %s: --local shows one", file, object.Line, object.Content.GetName())
			}
			view.declared = &v1alpha1.GraphView{}
			err = runtime.DefaultUnstructuredConverter.FromUnstructured(object.Content.Object, view.declared)
		case "ReferenceRule":
			declared := &v1alpha1.ReferenceRule{}
			if err = runtime.DefaultUnstructuredConverter.FromUnstructured(object.Content.Object, declared); err != nil {
				break
			}
			view.objects = append(view.objects, declared)
			view.rules[declared.Name] = declared.Spec
		}
		if err != nil {
			return fileView{}, usagef(cmd, "%s:%d: %w", file, object.Line, err)
		}
	}
	if view.declared == nil {
		return fileView{}, c.asFrom(cmd, usagef(cmd, "%s: there is no GraphView in it; --from looks at manifests", file), file)
	}
	return view, nil
}

package command

import (
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
)

// TestTwoWords: of two words without a slash, the first is a kind where no GraphView has a name, or where the server
// knows the kind or does not answer.
func TestTwoWords(t *testing.T) {
	served := meta.NewDefaultRESTMapper(nil)
	served.Add(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, meta.RESTScopeNamespace)
	up := func() (meta.RESTMapper, error) { return served, nil }
	down, err := mapperOf(&rest.Config{Host: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		local  localView
		mapper func() (meta.RESTMapper, error)
		word   string
		want   target
	}{
		"a kind of the server":       {mapper: up, word: "deployment", want: target{object: "deployment/web"}},
		"no kind of the server":      {mapper: up, word: "storefront"},
		"a server that is not there": {mapper: down, word: "deployment", want: target{object: "deployment/web"}},
		"--local":                    {local: localView{live: true}, mapper: up, word: "storefront", want: target{object: "storefront/web"}},
		"--from":                     {local: localView{files: manifestFlags{from: []string{"."}}}, mapper: down, word: "storefront", want: target{object: "storefront/web"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := &cli{local: test.local, config: genericclioptions.NewConfigFlags(false), mapper: test.mapper}
			cmd := &cobra.Command{Use: "tree"}
			cmd.SetContext(t.Context())
			got, err := c.viewAndObject(cmd, []string{test.word, "web"})
			if got != test.want || (err == nil) != (test.want != target{}) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

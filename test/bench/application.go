package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"text/template"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"graphview.dev/test/bench/load"
	"graphview.dev/test/must"
)

// The templates of an application's objects, as controllers would create them, and of a pod.
var (
	//go:embed application.yaml
	applicationText string
	//go:embed pod.yaml
	podText string
	//go:embed podspec.yaml
	podSpecText string

	applicationObjects, podObject = load.Parse(applicationText), load.Parse(podText)

	podSpec      = template.Must(template.New("").Parse(podSpecText))
	nodeObject   = load.Parse(`{apiVersion: v1, kind: Node, metadata: {name: {{.Name}}, labels: {kubernetes.io/hostname: {{.Name}}, kubernetes.io/arch: amd64, kubernetes.io/os: linux}}}`)
	inNamespaces = load.Parse("{apiVersion: v1, kind: Namespace, metadata: {name: {{.Name}}}}\n---\n" +
		// Every pod mounts it beside its token.
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: kube-root-ca.crt, namespace: {{.Name}}}, data: {ca.crt: certificate}}")
)

// application is the data of the templates.
type application struct {
	*load.Scope

	Namespace, Name string
	Version, Hash   string // of the image, and of the pod template
	Pods            int
	Node            string // of the next pod
}

func newApplication(s shape, i int) *application {
	scope := load.NewScope(i)
	return &application{
		Scope: scope, Namespace: s.namespace(i / s.applications), Name: fmt.Sprintf("app-%03d", i%s.applications),
		Version: fmt.Sprintf("1.%d.%d", i%17, i%7), Hash: scope.Word(10), Pods: s.pods,
	}
}

// Selector returns the labels that select the pods; a ReplicaSet's selector has a hash too.
func (a *application) Selector(hash ...string) (string, error) {
	return asJSON(map[string]string{"app.kubernetes.io/name": a.Name, "app.kubernetes.io/instance": a.Name + "-" + a.Namespace}, hash)
}

// Labels returns all labels of an object.
func (a *application) Labels(hash ...string) (string, error) {
	return asJSON(map[string]string{
		"app.kubernetes.io/name": a.Name, "app.kubernetes.io/instance": a.Name + "-" + a.Namespace,
		"app.kubernetes.io/part-of": "bench", "app.kubernetes.io/version": a.Version,
	}, hash)
}

func asJSON(labels map[string]string, hash []string) (string, error) {
	if labels = maps.Clone(labels); len(hash) > 0 {
		labels["pod-template-hash"] = hash[0]
	}
	text, err := json.Marshal(labels)
	return string(text), err
}

// PodSpec returns the spec of a pod, which differs in the node alone.
func (a *application) PodSpec() (string, error) {
	var text bytes.Buffer
	if err := podSpec.Execute(&text, a); err != nil {
		return "", err
	}
	line, err := yaml.YAMLToJSON(text.Bytes())
	return string(line), err
}

// createLoad creates all objects.
func createLoad(ctx context.Context, config *rest.Config, s shape) {
	m := must.Get(load.NewMaker(config))
	started := time.Now()
	fmt.Fprintf(os.Stderr, "load: %d objects, %s\n", s.objects(), s)
	named := func(t load.Template, name func(int) string) func(context.Context, int) error {
		return func(ctx context.Context, i int) error {
			return m.Create(ctx, t, map[string]string{"Name": name(i)}, load.NewScope(i))
		}
	}
	must.Do(load.Each(ctx, s.nodes(), named(nodeObject, s.node)))
	must.Do(load.Each(ctx, s.namespaces, named(inNamespaces, s.namespace)))
	must.Do(load.Each(ctx, s.namespaces*s.applications, func(ctx context.Context, i int) error {
		a := newApplication(s, i)
		if err := m.Create(ctx, applicationObjects, a, a.Scope); err != nil {
			return err
		}
		for pod := range s.pods {
			a.Node = s.node(i*s.pods + pod)
			if err := m.Create(ctx, podObject, a, a.Scope); err != nil {
				return err
			}
		}
		return nil
	}))
	fmt.Fprintf(os.Stderr, "load: created after %.0f s\n", time.Since(started).Seconds())
}

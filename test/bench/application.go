package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// The templates of an application's objects, as controllers would create them, of a pod, of a node, and of a
// namespace with the ConfigMap that every pod mounts.
var (
	//go:embed application.yaml
	applicationText string
	//go:embed pod.yaml
	podText string
	//go:embed podspec.yaml
	podSpecText string

	applicationObjects, podObject, podSpec = documents(applicationText), documents(podText), documents(podSpecText)

	nodeObject       = documents(`{apiVersion: v1, kind: Node, metadata: {name: {{.Name}}, labels: {kubernetes.io/hostname: {{.Name}}, kubernetes.io/arch: amd64, kubernetes.io/os: linux}}}`)
	namespaceObjects = documents("{apiVersion: v1, kind: Namespace, metadata: {name: {{.Name}}}}\n---\n" +
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: kube-root-ca.crt, namespace: {{.Name}}}, data: {ca.crt: certificate}}")
)

// application is the data of the templates. Names, hashes and addresses are random, and so do not compress, as
// in a cluster.
type application struct {
	Namespace, Name string
	Version, Hash   string // of the image, and of the pod template
	Pods            int
	Node            string // of the next pod

	random *rand.Rand
	uids   map[string]types.UID // of the last object of each kind
}

func newApplication(s shape, i int) *application {
	a := &application{
		Namespace: s.namespace(i / s.applications), Name: fmt.Sprintf("app-%03d", i%s.applications),
		Version: fmt.Sprintf("1.%d.%d", i%17, i%7), Pods: s.pods,
		random: rand.New(rand.NewPCG(1, uint64(i))), uids: map[string]types.UID{},
	}
	a.Hash = a.Word(10)
	return a
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
	if len(hash) > 0 {
		labels["pod-template-hash"] = hash[0]
	}
	text, err := json.Marshal(labels)
	return string(text), err
}

// PodSpec returns the spec of a pod, which differs in the node alone.
func (a *application) PodSpec() (string, error) {
	var text bytes.Buffer
	if err := podSpec[0].Execute(&text, a); err != nil {
		return "", err
	}
	line, err := yaml.YAMLToJSON(text.Bytes())
	return string(line), err
}

// UID returns the UID of the last object of a kind.
func (a *application) UID(kind string) types.UID { return a.uids[kind] }

// Word returns a random word like the ends of the names of pods.
func (a *application) Word(length int) string { return a.text("bcdfghjklmnpqrstvwxz2456789", length) }

// Hex returns a random hash.
func (a *application) Hex(length int) string { return a.text("0123456789abcdef", length) }

// Number returns a random number from 1 to 250.
func (a *application) Number() int { return 1 + a.random.IntN(250) }

// Now returns the time, in whole seconds.
func (*application) Now() string { return time.Now().UTC().Format(time.RFC3339) }

func (a *application) text(letters string, length int) string {
	word := make([]byte, length)
	for i := range word {
		word[i] = letters[a.random.IntN(len(letters))]
	}
	return string(word)
}

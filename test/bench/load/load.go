// Package load creates objects for measurements from templates of YAML, and changes at a rate. It
// knows no view.
package load

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"text/template"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// creators work at once; more only wait for the API server.
const creators = 24

// The field managers in managedFields, as in a cluster.
var (
	byController = metav1.CreateOptions{FieldManager: "kube-controller-manager"}
	byKubelet    = metav1.UpdateOptions{FieldManager: "kubelet"}
)

// Template is documents of YAML, each a template of package text/template. A template sees a
// Scope.
type Template []*template.Template

// Parse parses a template, and panics if that fails.
func Parse(text string) (t Template) {
	for document := range strings.SplitSeq(text, "\n---\n") {
		t = append(t, template.Must(template.New("").Parse(document)))
	}
	return t
}

// Scope has the functions of all templates. Names, hashes and addresses are random, and so do not
// compress, as in a cluster.
type Scope struct {
	Random *rand.Rand
	uids   map[string]types.UID
}

// NewScope returns the scope of the i-th part of a load.
func NewScope(i int) *Scope {
	return &Scope{Random: rand.New(rand.NewPCG(1, uint64(i))), uids: make(map[string]types.UID)}
}

// UID returns the UID of the object of a kind that was created last.
func (s *Scope) UID(kind string) types.UID { return s.uids[kind] }

// Word returns a random word like the ends of the names of pods.
func (s *Scope) Word(length int) string { return s.draw("bcdfghjklmnpqrstvwxz2456789", length) }

// Hex returns a random hash.
func (s *Scope) Hex(length int) string { return s.draw("0123456789abcdef", length) }

// Number returns a random number from 1 to 250.
func (s *Scope) Number() int { return 1 + s.Random.IntN(250) }

// Count returns the numbers below n.
func (s *Scope) Count(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// Now returns the time, in whole seconds.
func (s *Scope) Now() string { return time.Now().UTC().Format(time.RFC3339) }

func (s *Scope) draw(letters string, length int) string {
	word := make([]byte, length)
	for i := range word {
		word[i] = letters[s.Random.IntN(len(letters))]
	}
	return string(word)
}

// Maker creates objects, and prints how many it has created.
type Maker struct {
	client dynamic.Interface
	made   atomic.Int64
}

// NewMaker returns a Maker that creates objects at an API server.
func NewMaker(config *rest.Config) (*Maker, error) {
	client, err := dynamic.NewForConfig(config)
	return &Maker{client: client}, err
}

// Create creates the objects of a template one after the other. It writes a status after the object
// was created.
func (m *Maker) Create(ctx context.Context, t Template, data any, scope *Scope) error {
	for _, document := range t {
		var text bytes.Buffer
		if err := document.Execute(&text, data); err != nil {
			return fmt.Errorf("load: %w", err)
		}
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(text.Bytes(), &object.Object); err != nil {
			return fmt.Errorf("load: %w\n%s", err, text.Bytes())
		}
		kind, status := object.GetKind(), object.Object["status"]
		plural, _ := meta.UnsafeGuessKindToResource(object.GroupVersionKind())
		var resource dynamic.ResourceInterface = m.client.Resource(plural)
		if namespace := object.GetNamespace(); namespace != "" {
			resource = m.client.Resource(plural).Namespace(namespace)
		}
		object, err := resource.Create(ctx, object, byController)
		if err == nil && status != nil {
			object.Object["status"] = status
			object, err = resource.UpdateStatus(ctx, object, byKubelet)
		}
		if err != nil {
			return fmt.Errorf("load: create a %s: %w", kind, err)
		}
		scope.uids[kind] = object.GetUID()
		if made := m.made.Add(1); made%5000 == 0 {
			fmt.Fprintf(os.Stderr, "load: %d objects\n", made)
		}
	}
	return nil
}

// Each calls do n times, several calls at once, and stops at the first error.
func Each(ctx context.Context, n int, do func(context.Context, int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(creators)
	for i := range n {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return do(ctx, i)
		})
	}
	return group.Wait()
}

package scenarios

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/test/env"
	"graphview.dev/test/patience"
)

// within is how long anything may take that is expected to happen.
const within = 45 * time.Second

// field managers of apply and touch.
const (
	author   = "scenario"
	stranger = "stranger"
)

// place is one scenario's part of the cluster: its namespaces, and what it made.
type place struct {
	client     client.Client
	namespaces []string
	group      string
	user       string
	port       func() int // of the aggregated API server, which starts when it is asked for
	made       []*unstructured.Unstructured
	uids       map[string]string // by Kind/name
}

func newPlace(t *testing.T, name string) *place {
	t.Helper()
	c, err := client.New(plane.Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := &place{
		client:     c,
		namespaces: []string{name + "-a", name + "-b"},
		group:      name + ".example.com",
		user:       name,
		uids:       make(map[string]string),
	}
	t.Cleanup(func() { p.clean(t) })
	for _, namespace := range p.namespaces {
		if err := c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// clean deletes the scenario's objects. There are no controllers that would do it.
func (p *place) clean(t *testing.T) {
	t.Helper()
	// The test's own context is over by now.
	ctx, cancel := context.WithTimeout(context.Background(), patience.For(within))
	defer cancel()
	for _, o := range slices.Backward(p.made) {
		if err := p.remove(ctx, o); err != nil {
			t.Error(err)
		}
	}
	for _, name := range p.namespaces {
		if err := p.removeNamespace(ctx, name); err != nil {
			t.Error(err)
		}
	}
}

// rendered shows the scenario's own names as ns, ns2 and group.
func (p *place) rendered(lines []line) []line {
	names := strings.NewReplacer(p.namespaces[0], "ns", p.namespaces[1], "ns2", p.group, "group")
	out := make([]line, len(lines))
	for i, l := range lines {
		out[i] = line{head: names.Replace(l.head), detail: names.Replace(l.detail), optional: l.optional}
	}
	return out
}

var placeholder = regexp.MustCompile(`\{\{([^{}]+)\}\}`)

// fill replaces the placeholders of a text.
func (p *place) fill(text string) (string, error) {
	var errs []error
	filled := placeholder.ReplaceAllStringFunc(text, func(match string) string {
		word := strings.Trim(match, "{}")
		switch word {
		case "ns":
			return p.namespaces[0]
		case "ns2":
			return p.namespaces[1]
		case "group":
			return p.group
		case "user":
			return p.user
		case "port":
			return strconv.Itoa(p.port())
		}
		if object, ok := strings.CutPrefix(word, "uid "); ok && p.uids[object] != "" {
			return p.uids[object]
		}
		errs = append(errs, fmt.Errorf("unknown placeholder %s", match))
		return match
	})
	return filled, errors.Join(errs...)
}

// objects reads the documents of a section.
func (p *place) objects(text string) ([]*unstructured.Unstructured, error) {
	text, err := p.fill(text)
	if err != nil {
		return nil, err
	}
	return env.Objects(text)
}

// apply sets the fields of objects by server-side apply. It retries, because the kinds of
// a CustomResourceDefinition or an APIService in the same scenario are served a moment
// later.
func (p *place) apply(ctx context.Context, o *unstructured.Unstructured, manager string) error {
	err := p.retry(ctx, func() error {
		if err := p.inNamespace(o); err != nil {
			return err
		}
		applied := o.DeepCopy()
		err := p.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner(manager), client.ForceOwnership)
		p.uids[o.GetKind()+"/"+o.GetName()] = string(applied.GetUID())
		return err
	})
	if err != nil {
		return fmt.Errorf("apply %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	p.made = append(p.made, o)
	return nil
}

func (p *place) retry(ctx context.Context, try func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience.For(within))
	defer cancel()
	for {
		err := try()
		if !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err) && !apierrors.IsServiceUnavailable(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pollInterval):
		}
	}
}

// inNamespace puts a namespaced object that does not say where into the
// scenario's first namespace.
func (p *place) inNamespace(o *unstructured.Unstructured) error {
	if o.GetNamespace() != "" {
		return nil
	}
	namespaced, err := p.client.IsObjectNamespaced(o)
	if err == nil && namespaced {
		o.SetNamespace(p.namespaces[0])
	}
	return err
}

// remove deletes an object if it exists. For a namespace it also deletes the scenario's
// objects in it, as the namespace controller would.
func (p *place) remove(ctx context.Context, o *unstructured.Unstructured) error {
	if o.GetAPIVersion() == "v1" && o.GetKind() == "Namespace" {
		for _, inside := range p.made {
			if inside.GetNamespace() == o.GetName() {
				if err := p.remove(ctx, inside); err != nil {
					return err
				}
			}
		}
		return p.removeNamespace(ctx, o.GetName())
	}
	err := p.inNamespace(o)
	if err == nil {
		err = p.client.Delete(ctx, o, client.GracePeriodSeconds(0), client.PropagationPolicy(metav1.DeletePropagationBackground))
	}
	if err == nil || apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil
	}
	return fmt.Errorf("delete %s %s: %w", o.GetKind(), o.GetName(), err)
}

func (p *place) removeNamespace(ctx context.Context, name string) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	err := p.client.Delete(ctx, namespace)
	if err == nil {
		err = p.client.SubResource("finalize").Update(ctx, namespace)
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete namespace %s: %w", name, err)
	}
	return nil
}

package faults

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/test/fixture"
	"graphview.dev/test/workload"
)

// namespaceSticks: a namespace that is being deleted keeps one object, because no
// controller removes its finalizer.
func namespaceSticks(s *scene, r *rand.Rand) trouble {
	name := fmt.Sprintf("stuck-%d", r.Uint32())
	held := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "held", Finalizers: []string{"faults.example.com/hold"}}}
	return trouble{
		name: "namespace stuck in deletion",
		begin: func(ctx context.Context) error {
			namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
				Name: name, Labels: map[string]string{"colour": workload.Colour(s.work.Namespaces[0])},
			}}
			loose := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "loose"}}
			for _, o := range []client.Object{namespace, held, loose} {
				if err := ignoreOutage(s.client.Create(ctx, o)); err != nil {
					return fmt.Errorf("create %s: %w", o.GetName(), err)
				}
			}
			return ignoreOutage(s.client.Delete(ctx, namespace))
		},
		heal: func(ctx context.Context) error {
			patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
			return patiently(ctx, func() error { return client.IgnoreNotFound(s.client.Patch(ctx, held, patch)) })
		},
	}
}

// objectsAreLarge: some ConfigMaps are nearly as large as etcd takes them.
func objectsAreLarge(s *scene, _ *rand.Rand) trouble {
	content := make([]byte, 740_000)
	big := func() *corev1.ConfigMap {
		// Random, so that compression does not make it small.
		for i := range content {
			content[i] = byte(s.dice.Uint32())
		}
		meta := metav1.ObjectMeta{Namespace: s.work.Namespaces[0], Name: fmt.Sprint("big-", s.dice.IntN(3)), Labels: map[string]string{"size": "big"}}
		return &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"text": base64.StdEncoding.EncodeToString(content)}}
	}
	write := func(ctx context.Context) error {
		o := big()
		err := s.client.Create(ctx, o)
		if apierrors.IsAlreadyExists(err) {
			err = s.client.Update(ctx, o)
		}
		return ignoreOutage(err)
	}
	return trouble{
		name:  "objects of 1 MB",
		begin: write,
		step: func(ctx context.Context) error {
			if s.dice.IntN(12) > 0 {
				return nil
			}
			return write(ctx)
		},
		heal: write,
		after: func(ctx context.Context) error {
			return patiently(ctx, func() error {
				return s.client.DeleteAllOf(ctx, &corev1.ConfigMap{}, client.InNamespace(s.work.Namespaces[0]), client.MatchingLabels{"size": "big"})
			})
		},
	}
}

// patiently repeats a write that must succeed. On a busy machine a connection is taken for dead at times.
func patiently(ctx context.Context, write func() error) error {
	if why := fixture.Wait(ctx, healsWithin, pollInterval, func() string {
		if err := write(); err != nil {
			return err.Error()
		}
		return ""
	}); why != "" {
		return errors.New(why)
	}
	return nil
}

// ignoreOutage forgives what is not an answer: there is no API server then, in
// an episode that took it away, or it has no answer from etcd.
func ignoreOutage(err error) error {
	switch apierrors.ReasonForError(err) {
	case metav1.StatusReasonUnknown, metav1.StatusReasonNotFound, metav1.StatusReasonTimeout,
		metav1.StatusReasonServerTimeout, metav1.StatusReasonServiceUnavailable, metav1.StatusReasonInternalError:
		return nil
	}
	return err
}

const gearGroup = "gears.faults.example.com"

var crds = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}

// createGears installs a kind with two versions. Views watch the version that is not
// stored.
func createGears(t *testing.T, c client.Client) {
	t.Helper()
	version := func(name string, storage bool) any {
		return map[string]any{"name": name, "served": true, "storage": storage, "schema": map[string]any{"openAPIV3Schema": map[string]any{
			"type": "object", "x-kubernetes-preserve-unknown-fields": true,
		}}}
	}
	crd := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"group": gearGroup, "scope": "Namespaced",
		"names":    map[string]any{"plural": "gears", "singular": "gear", "kind": "Gear"},
		"versions": []any{version("v1", true), version("v2", false)},
	}}}
	crd.SetGroupVersionKind(crds)
	crd.SetName("gears." + gearGroup)
	if err := c.Create(t.Context(), crd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Delete(context.Background(), crd); err != nil {
			t.Errorf("delete CustomResourceDefinition: %v", err)
		}
	})
}

// conversionBreaks: the webhook that converts stored objects into the version
// that views watch does not answer.
func conversionBreaks(s *scene, _ *rand.Rand) trouble {
	convert := func(ctx context.Context, conversion string) error {
		crd := &unstructured.Unstructured{}
		crd.SetGroupVersionKind(crds)
		crd.SetName("gears." + gearGroup)
		patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"conversion":%s}}`, conversion))
		return s.client.Patch(ctx, crd, patch)
	}
	write := func(ctx context.Context) error {
		gear := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"teeth": int64(s.dice.IntN(90))}}}
		gear.SetGroupVersionKind(schema.GroupVersionKind{Group: gearGroup, Version: "v1", Kind: "Gear"})
		gear.SetNamespace(s.work.Namespaces[s.dice.IntN(2)])
		gear.SetName(fmt.Sprint("gear-", s.dice.IntN(4)))
		if s.dice.IntN(3) == 0 {
			return ignoreOutage(s.client.Delete(ctx, gear))
		}
		if err := s.client.Create(ctx, gear); !apierrors.IsAlreadyExists(err) {
			return ignoreOutage(err)
		}
		return nil
	}
	return trouble{
		name: "conversion webhook broken",
		begin: func(ctx context.Context) error {
			if err := write(ctx); err != nil {
				return err
			}
			return ignoreOutage(convert(ctx, `{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"https://127.0.0.1:1/convert"}}}`))
		},
		step: func(ctx context.Context) error {
			if s.dice.IntN(6) > 0 {
				return nil
			}
			return write(ctx)
		},
		heal: func(ctx context.Context) error {
			return patiently(ctx, func() error { return convert(ctx, `{"strategy":"None","webhook":null}`) })
		},
	}
}

package faults

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/test/fixture"
)

const extensionGroup = "extension.faults.example.com"

// extension is an extension API server with one resource, sprockets, that can be stopped.
// Clients list again when it returns.
type extension struct {
	sprockets    *sprockets
	client       client.Client
	registration *unstructured.Unstructured
}

// touch has the API server look at once whether the extension is available: by
// itself it does so twice a minute.
func (e *extension) touch(ctx context.Context, version int) error {
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"faults.example.com/version":"%d"}}}`, version)
	// A copy, since the client writes the answer into what it is given, and scenes share the extension.
	return ignoreOutage(e.client.Patch(ctx, e.registration.DeepCopy(), client.RawPatch(types.MergePatchType, patch)))
}

// newExtension registers an extension server at the API server, until the test
// ends.
func newExtension(t *testing.T, c client.Client) *extension {
	t.Helper()
	namespace := fixture.Namespace(t, plane, c, "extension")
	dir := t.TempDir()
	const service = "sprockets"
	if err := plane.ServingCertificate(dir, service+"."+namespace+".svc"); err != nil {
		t.Fatal(err)
	}
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &extension{sprockets: newSprockets(), client: c}
	// It is cut off on purpose, and need not say so.
	server := &http.Server{Handler: e.sprockets, ErrorLog: log.New(io.Discard, "", 0)}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.ServeTLS(inner, dir+"/tls.crt", dir+"/tls.key") // Close's error
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-served
	})
	_, port, _ := net.SplitHostPort(inner.Addr().String())
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	// The API server resolves the name itself, so no cluster network is needed.
	if err := c.Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: service},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost", Ports: []corev1.ServicePort{{Port: int32(number)}}},
	}); err != nil {
		t.Fatal(err)
	}
	registration := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"group": extensionGroup, "version": "v1", "groupPriorityMinimum": int64(100), "versionPriority": int64(10),
		"service":  map[string]any{"namespace": namespace, "name": service, "port": int64(number)},
		"caBundle": base64.StdEncoding.EncodeToString(plane.CA()),
	}}}
	registration.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"})
	registration.SetName("v1." + extensionGroup)
	if err := c.Create(t.Context(), registration); err != nil {
		t.Fatal(err)
	}
	e.registration = registration
	t.Cleanup(func() {
		if err := c.Delete(context.Background(), registration); err != nil {
			t.Errorf("delete APIService: %v", err)
		}
	})
	return e
}

// extensionFails: an aggregated API answers nothing useful.
func extensionFails(s *scene, _ *rand.Rand) trouble {
	return trouble{
		name: "aggregated API down",
		begin: func(ctx context.Context) error {
			s.extender.sprockets.change(s.work.Namespaces[0], fmt.Sprint("sprocket-", s.dice.IntN(3)))
			s.extender.sprockets.fail(true)
			return s.extender.touch(ctx, s.dice.Int())
		},
		step: func(context.Context) error {
			if s.dice.IntN(8) == 0 {
				s.extender.sprockets.change(s.work.Namespaces[s.dice.IntN(2)], fmt.Sprint("sprocket-", s.dice.IntN(3)))
			}
			return nil
		},
		heal: func(ctx context.Context) error {
			s.extender.sprockets.fail(false)
			return s.extender.touch(ctx, s.dice.Int())
		},
	}
}

package env

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

var (
	serviceAccounts = schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}
	getOptions      = metav1.GetOptions{}
)

// URL of the API server.
func (c *ControlPlane) URL() string { return "https://" + address(c.port) }

// CA is the PEM certificate of the authority that signed the API server's.
func (c *ControlPlane) CA() []byte { return slices.Clone(c.keys.cluster.pem) }

// Config is the administrator's (group system:masters), without a client-side
// rate limit. Each call returns a new one.
func (c *ControlPlane) Config() *rest.Config { return c.config(c.keys.admin) }

// ClientConfig returns a configuration for any user, with a client certificate. Users need
// not exist; RBAC alone decides what they may do.
func (c *ControlPlane) ClientConfig(user string, groups ...string) *rest.Config {
	keys, err := c.keys.cluster.client(user, groups...)
	if err != nil {
		// Out of memory and random numbers only.
		panic(fmt.Sprintf("certificate of %q: %v", user, err))
	}
	return c.config(keys)
}

func (c *ControlPlane) config(keys pair) *rest.Config {
	return &rest.Config{
		Host:            c.URL(),
		TLSClientConfig: rest.TLSClientConfig{CAData: c.CA(), CertData: slices.Clone(keys.cert), KeyData: slices.Clone(keys.key)},
		QPS:             -1,
	}
}

// ServiceAccountConfig is that of a ServiceAccount that exists, by a token of
// one hour.
func (c *ControlPlane) ServiceAccountConfig(ctx context.Context, namespace, name string) (*rest.Config, error) {
	clients, done, err := c.clients()
	if err != nil {
		return nil, err
	}
	defer done()
	request := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
		"metadata": map[string]any{"name": name, "namespace": namespace},
		"spec":     map[string]any{"expirationSeconds": int64(3600)},
	}}
	answer, err := clients.Resource(serviceAccounts).Namespace(namespace).
		Create(ctx, request, metav1.CreateOptions{}, "token")
	if err != nil {
		return nil, fmt.Errorf("token of ServiceAccount %s/%s: %w", namespace, name, err)
	}
	var token authenticationv1.TokenRequest
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(answer.Object, &token); err != nil {
		return nil, fmt.Errorf("token of ServiceAccount %s/%s: %w", namespace, name, err)
	}
	return &rest.Config{
		Host:            c.URL(),
		TLSClientConfig: rest.TLSClientConfig{CAData: c.CA()},
		BearerToken:     token.Status.Token,
		QPS:             -1,
	}, nil
}

// CreateServiceAccount makes a ServiceAccount. Without a controller manager a
// namespace needs one named default before it admits a pod.
func (c *ControlPlane) CreateServiceAccount(ctx context.Context, namespace, name string) error {
	return c.apply(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ServiceAccount",
		"metadata": map[string]any{"name": name, "namespace": namespace},
	}}, serviceAccounts)
}

// Kubeconfig is the administrator's configuration for kubectl.
func (c *ControlPlane) Kubeconfig() []byte { return Kubeconfig(c.Config()) }

// WriteKubeconfig writes the administrator's configuration to a file.
func (c *ControlPlane) WriteKubeconfig(path string) error { return WriteKubeconfig(path, c.Config()) }

// WriteKubeconfig writes a configuration of this package to a file. A program that reads
// the file at the same time finds what was there before or all that is there now.
func WriteKubeconfig(path string, config *rest.Config) error {
	next, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".") // for its owner alone
	if err != nil {
		return fmt.Errorf("write kubeconfig: %w", err)
	}
	_, err = next.Write(Kubeconfig(config))
	if err = errors.Join(err, next.Close()); err == nil {
		err = os.Rename(next.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write kubeconfig: %w", errors.Join(err, os.Remove(next.Name())))
	}
	return nil
}

// Kubeconfig renders a configuration of this package for programs that read one
// from a file.
func Kubeconfig(config *rest.Config) []byte {
	const name = "graphview-env"
	text, err := clientcmd.Write(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{name: {Server: config.Host, CertificateAuthorityData: config.CAData}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{name: {
			ClientCertificateData: config.CertData, ClientKeyData: config.KeyData, Token: config.BearerToken,
		}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
		CurrentContext: name,
	})
	if err != nil {
		// Strings and bytes always have a YAML form.
		panic(fmt.Sprintf("kubeconfig: %v", err))
	}
	return text
}

// clients returns a dynamic client with a connection of its own; done closes it.
func (c *ControlPlane) clients() (client dynamic.Interface, done func(), err error) {
	config := c.Config()
	http, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, nil, fmt.Errorf("client of %s: %w", apiServer, err)
	}
	client, err = dynamic.NewForConfigAndClient(config, http)
	if err != nil {
		return nil, nil, fmt.Errorf("client of %s: %w", apiServer, err)
	}
	return client, http.CloseIdleConnections, nil
}

// apply sets the fields of an object by server-side apply.
func (c *ControlPlane) apply(ctx context.Context, object *unstructured.Unstructured, resource schema.GroupVersionResource) error {
	clients, done, err := c.clients()
	if err != nil {
		return err
	}
	defer done()
	var scoped dynamic.ResourceInterface = clients.Resource(resource)
	if namespace := object.GetNamespace(); namespace != "" {
		scoped = clients.Resource(resource).Namespace(namespace)
	}
	_, err = scoped.Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: "graphview-env", Force: true})
	if err != nil {
		return fmt.Errorf("apply %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return nil
}

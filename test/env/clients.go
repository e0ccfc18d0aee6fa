package env

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// manager is the field manager of this package's writes.
const manager = "graphview-env"

// URL of the API server.
func (c *ControlPlane) URL() string { return "https://" + address(c.port) }

// CA is the PEM certificate of the authority that signed the API server's.
func (c *ControlPlane) CA() []byte { return slices.Clone(c.keys.cluster.pem) }

// Config returns a new configuration of the administrator (group system:masters), without a client-side
// rate limit.
func (c *ControlPlane) Config() *rest.Config { return c.config(c.keys.admin) }

// ClientConfig returns a configuration for any user, with a client certificate. Users need
// not exist; RBAC alone decides about their rights.
func (c *ControlPlane) ClientConfig(user string, groups ...string) *rest.Config {
	keys, err := c.keys.cluster.client(user, groups...)
	if err != nil {
		// Only the random source can fail.
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

// ServiceAccountConfig returns a configuration of an existing ServiceAccount, with a token of
// one hour.
func (c *ControlPlane) ServiceAccountConfig(ctx context.Context, namespace, name string) (*rest.Config, error) {
	client, done, err := c.client()
	if err != nil {
		return nil, err
	}
	defer done()
	token := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(3600))}}
	token, err = client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name, token, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("token of ServiceAccount %s/%s: %w", namespace, name, err)
	}
	return &rest.Config{
		Host:            c.URL(),
		TLSClientConfig: rest.TLSClientConfig{CAData: c.CA()},
		BearerToken:     token.Status.Token,
		QPS:             -1,
	}, nil
}

// CreateServiceAccount creates a ServiceAccount. Without a controller manager a
// namespace admits no pod before it has one named default.
func (c *ControlPlane) CreateServiceAccount(ctx context.Context, namespace, name string) error {
	client, done, err := c.client()
	if err != nil {
		return err
	}
	defer done()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err = client.CoreV1().ServiceAccounts(namespace).Create(ctx, account, metav1.CreateOptions{FieldManager: manager})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create ServiceAccount %s/%s: %w", namespace, name, err)
	}
	return nil
}

// WriteKubeconfig writes a configuration of this package to a file. A program that reads
// the file at the same time gets the old or the new content, and no part of either.
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
	const name = manager
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

// client returns a client with a connection of its own; done closes it.
func (c *ControlPlane) client() (client kubernetes.Interface, done func(), err error) {
	config := c.Config()
	http, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, nil, fmt.Errorf("client of %s: %w", apiServer, err)
	}
	client, err = kubernetes.NewForConfigAndClient(config, http)
	if err != nil {
		return nil, nil, fmt.Errorf("client of %s: %w", apiServer, err)
	}
	return client, http.CloseIdleConnections, nil
}

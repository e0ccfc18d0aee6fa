package env

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"fmt"
	"net"

	"k8s.io/client-go/util/keyutil"
)

// serviceRange and serviceAddress are the cluster's Service addresses and the
// first of them, which the API server takes for itself.
const (
	serviceRange   = "10.0.0.0/16"
	serviceAddress = "10.0.0.1"
)

// credentials are the keys of one control plane.
type credentials struct {
	cluster *authority // signs the API server's certificate and every user's
	admin   pair
}

// newCredentials generates all keys, and writes the files that the programs read.
func newCredentials(dir *workDir) (*credentials, error) {
	cluster, err := newAuthority("graphview-env")
	if err != nil {
		return nil, err
	}
	// The front proxy has its own CA: a client with a certificate of it may name any user in a
	// header.
	proxyAuthority, err := newAuthority("graphview-env-front-proxy")
	if err != nil {
		return nil, err
	}
	proxy, err := proxyAuthority.client(proxyName)
	if err != nil {
		return nil, err
	}
	serving, err := cluster.server(
		[]string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"},
		net.ParseIP(serviceAddress))
	if err != nil {
		return nil, err
	}
	admin, err := cluster.client("admin", "system:masters")
	if err != nil {
		return nil, err
	}
	tokens, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("key of ServiceAccount tokens: %w", err)
	}
	tokenKey, err := keyutil.MarshalPrivateKeyToPEM(tokens)
	if err != nil {
		return nil, fmt.Errorf("key of ServiceAccount tokens: %w", err)
	}
	clusterKey, err := keyutil.MarshalPrivateKeyToPEM(cluster.key)
	if err != nil {
		return nil, fmt.Errorf("key of the cluster's authority: %w", err)
	}
	return &credentials{cluster: cluster, admin: admin}, dir.files(map[string][]byte{
		"ca.crt": cluster.pem, "ca.key": clusterKey,
		"front-proxy-ca.crt": proxyAuthority.pem, "front-proxy.crt": proxy.cert, "front-proxy.key": proxy.key,
		"serving.crt": serving.cert, "serving.key": serving.key,
		"tokens.key": tokenKey,
	})
}

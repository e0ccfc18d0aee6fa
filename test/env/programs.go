package env

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Names of the programs below [Options.Binaries].
const (
	etcd              = "etcd"
	apiServer         = "kube-apiserver"
	controllerManager = "kube-controller-manager"
	kubectl           = "kubectl"
)

// proxyName is the name of the API server's aggregation layer in its client certificate for
// extension servers.
const proxyName = "front-proxy-client"

// etcdArgs returns the arguments of one node on loopback. It syncs no data to disk: they must
// survive a crash of the API server, and not of the machine.
func etcdArgs(dir *workDir, clientPort, peerPort int) []string {
	client, peer := "http://"+address(clientPort), "http://"+address(peerPort)
	return []string{
		"--name=default",
		"--data-dir=" + dir.join("etcd"),
		"--listen-client-urls=" + client,
		"--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=default=" + peer,
		"--unsafe-no-fsync=true",
		"--quota-backend-bytes=8589934592",
		"--log-level=warn",
	}
}

// apiServerArgs returns arguments for RBAC, the aggregation layer and ServiceAccount
// tokens, and for the default admission. The arguments in more come last and win.
func apiServerArgs(dir *workDir, port, etcdPort int, more []string) []string {
	pki := func(name string) string { return dir.join("pki", name) }
	return append([]string{
		"--etcd-servers=http://" + address(etcdPort),
		"--bind-address=" + loopback,
		"--advertise-address=" + loopback,
		"--secure-port=" + strconv.Itoa(port),
		// Endpoints of the Service `kubernetes` may not be loopback addresses.
		"--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=" + serviceRange,

		"--tls-cert-file=" + pki("serving.crt"),
		"--tls-private-key-file=" + pki("serving.key"),
		"--client-ca-file=" + pki("ca.crt"),
		"--authorization-mode=RBAC",

		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + pki("tokens.key"),
		"--service-account-signing-key-file=" + pki("tokens.key"),

		"--enable-aggregator-routing=false",
		"--requestheader-client-ca-file=" + pki("front-proxy-ca.crt"),
		"--requestheader-allowed-names=" + proxyName,
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + pki("front-proxy.crt"),
		"--proxy-client-key-file=" + pki("front-proxy.key"),

		"--profiling=false",
	}, more...)
}

// Unlimited lifts the API server's own limits, for programs that measure others.
var Unlimited = []string{
	"--max-requests-inflight=0", "--max-mutating-requests-inflight=0", "--enable-priority-and-fairness=false",
}

// controllersOff are controllers that need a cloud or metrics, or that judge pods and nodes by
// kubelets that do not exist: they would evict or collect a test's objects.
var controllersOff = []string{
	"cloud-node-lifecycle-controller", "node-route-controller", "service-lb-controller",
	"node-ipam-controller", "node-lifecycle-controller", "ttl-controller",
	"taint-eviction-controller", "device-taint-eviction-controller",
	podGarbageCollector, "persistentvolume-attach-detach-controller", "persistentvolume-expander-controller",
	"horizontal-pod-autoscaler-controller",
}

const podGarbageCollector = "pod-garbage-collector-controller"

func controllerManagerArgs(dir *workDir, collectsPods bool) []string {
	off := slices.Clone(controllersOff)
	if collectsPods {
		off = slices.DeleteFunc(off, func(name string) bool { return name == podGarbageCollector })
	}
	return []string{
		"--kubeconfig=" + dir.join("kubeconfig"),
		"--secure-port=0",
		"--leader-elect=false",
		"--use-service-account-credentials=true",
		"--service-account-private-key-file=" + dir.join("pki", "tokens.key"),
		"--root-ca-file=" + dir.join("pki", "ca.crt"),
		"--cluster-signing-cert-file=" + dir.join("pki", "ca.crt"),
		"--cluster-signing-key-file=" + dir.join("pki", "ca.key"),
		"--controllers=*,-" + strings.Join(off, ",-"),
		"--concurrent-gc-syncs=5",
		"--kube-api-qps=500",
		"--kube-api-burst=1000",
	}
}

// findBinaries returns the directory of the programs: the given one, else that of
// GRAPHVIEW_CONTROL_PLANE, else bin/controlplane of this module.
func findBinaries(given string, programs ...string) (string, error) {
	dir := cmp.Or(given, os.Getenv("GRAPHVIEW_CONTROL_PLANE"))
	if dir == "" {
		root, err := ModuleRoot()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(root, "bin", "controlplane")
	}
	for _, program := range programs {
		if _, err := os.Stat(filepath.Join(dir, program)); err != nil {
			return "", fmt.Errorf("control plane's programs: %w (run `make control-plane`)", err)
		}
	}
	return dir, nil
}

// ModuleRoot returns the directory of this module's go.mod: the working directory or one
// above it.
func ModuleRoot() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("find the module: %w", err)
		}
		if strings.HasPrefix(string(text), "module graphview.dev\n") {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("find the module: %s is not below a go.mod of graphview.dev", start)
		}
	}
}

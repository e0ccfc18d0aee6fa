package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/coder/websocket"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/operator"
	"graphview.dev/test/patience"
)

const graphs = "/apis/stream.graphview.dev/v1alpha1"

func graphPath(namespace, name string) string {
	return fmt.Sprintf("%s/namespaces/%s/graphs/%s", graphs, namespace, name)
}

func watchPath(namespace, name string) string {
	return fmt.Sprintf("%s/watch/namespaces/%s/graphs/%s", graphs, namespace, name)
}

// road is a way to the graphs, for one identity.
type road struct {
	base   string
	client *http.Client
}

// throughAPIServer is the road of a user with a kubeconfig.
func throughAPIServer(t *testing.T) road {
	t.Helper()
	return asUser(t, "alice", readersGroup)
}

// asUser is the road of a user with a kubeconfig.
func asUser(t *testing.T, name string, groups ...string) road {
	t.Helper()
	return newRoad(t, entrance().ClientConfig(name, groups...))
}

// entrance is the control plane at which users are authenticated.
func entrance() *env.ControlPlane {
	if *viaHub {
		return hubPlane
	}
	return cluster
}

// named is the name that a user of the entrance has in the cluster.
func named(user string) string {
	if *viaHub {
		return operator.MemberGroup(user)
	}
	return user
}

// ownPort is the road of a program in the cluster, with its ServiceAccount's
// token, to the operator itself.
func ownPort(t *testing.T) road {
	t.Helper()
	config, err := entrance().ServiceAccountConfig(t.Context(), readersNamespace, readersAccount)
	if err != nil {
		t.Fatal(err)
	}
	if config.Host = manager.URL(); *viaHub {
		config.Host = hub.URL()
	}
	return newRoad(t, config)
}

// roads are all there are.
func roads(t *testing.T) map[string]road {
	t.Helper()
	return map[string]road{"API server": throughAPIServer(t), "own port": ownPort(t)}
}

func newRoad(t *testing.T, config *rest.Config) road {
	t.Helper()
	r := road{base: config.Host, client: fixture.HTTP1(t, config)}
	if *viaHub {
		r.base += graphs + "/clusters/" + link + "/proxy"
	}
	return r
}

// get returns the answer to a plain request.
func (r road) get(t *testing.T, path string) (code int, body []byte) {
	t.Helper()
	code, body, err := r.tryGet(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return code, body
}

func (r road) tryGet(ctx context.Context, path string) (code int, body []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience.For(within))
	defer cancel()
	return fixture.Get(ctx, r.client, r.base+path)
}

// refused opens a stream that must not open, and returns the Status that the
// request is answered with.
func (r road) refused(t *testing.T, path string) metav1.Status {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience.For(within))
	defer cancel()
	conn, response, err := r.dial(ctx, path)
	if err == nil {
		_ = conn.CloseNow()
		t.Fatalf("%s opened", path)
	}
	if response == nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var status metav1.Status
	if err := json.Unmarshal(body, &status); err != nil || int(status.Code) != response.StatusCode || status.Kind != "Status" {
		t.Errorf("answer %d %s, want a Status", response.StatusCode, body)
	}
	return status
}

func (r road) dial(ctx context.Context, path string) (*websocket.Conn, *http.Response, error) {
	conn, response, err := websocket.Dial(ctx, r.base+path, &websocket.DialOptions{
		HTTPClient: r.client, Subprotocols: []string{"graphview.v1"},
	})
	if err != nil {
		return nil, response, err
	}
	conn.SetReadLimit(-1) // a single object may be larger than a message should be
	return conn, response, nil
}

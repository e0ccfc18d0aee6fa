package local

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"graphview.dev/client"
	"graphview.dev/test/fixture"
)

// TestDashboard: the page's stream has what the user may list and follows its changes, and Ctrl-C ends
// the command.
func TestDashboard(t *testing.T) {
	p := people()["two"]
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	// The plugin itself, since kubectl does not end with it at a signal to it alone.
	command := exec.CommandContext(ctx, folder+"/kubectl-graphview", "dashboard", "--local", "--no-open", "-n", "blue")
	command.Env = fixture.Shell(t, cluster, p.config, folder)
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	defer func() {
		if !ended {
			_ = command.Process.Kill()
			_ = command.Wait()
		}
	}()
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, Transport: &http.Transport{}}
	defer browser.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSpace(address), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	page, err := browser.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = page.Body.Close()
	origin, _, _ := strings.Cut(address, "/open/")
	socket, _, err := websocket.Dial(ctx, origin+"/apis/stream.graphview.dev/v1alpha1/watch/namespaces/blue/graphs/local",
		&websocket.DialOptions{HTTPClient: browser, Subprotocols: []string{"graphview.v1"}, HTTPHeader: http.Header{"Origin": {origin}}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = socket.CloseNow() }()
	socket.SetReadLimit(-1)
	g := &client.Graph{}
	until := func(holds func() bool) {
		t.Helper()
		for !holds() {
			_, text, err := socket.Read(ctx)
			if err != nil {
				t.Fatal(err)
			}
			var m client.Message
			if err := json.Unmarshal(text, &m); err != nil {
				t.Fatal(err)
			}
			g.Apply(&m)
		}
	}
	until(func() bool { return g.Synced })
	if diff := cmp.Diff(p.listed(t, "blue"), keysOf(g)); diff != "" {
		t.Errorf("(-kubectl +page):\n%s", diff)
	}
	fixture.KubectlAfter(t, cluster, "-n", "blue", "delete", "configmap", "live")
	fixture.Kubectl(t, cluster, "-n", "blue", "create", "configmap", "live")
	until(func() bool {
		return g.Vertices[client.Key{Version: "v1", Resource: "configmaps", Namespace: "blue", Name: "live"}] != nil
	})

	if err := command.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	ended = true
	if err := command.Wait(); err != nil && command.ProcessState.ExitCode() != 130 {
		t.Errorf("after Ctrl-C: %v", err)
	}
}

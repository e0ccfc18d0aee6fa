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
	"graphview.dev/test/patience"
)

// process is a command of the plugin that runs until it is interrupted.
type process struct {
	*exec.Cmd

	out *bufio.Reader
}

// start runs the plugin itself, since kubectl does not end with it at a signal to it alone.
func (p person) start(ctx context.Context, t *testing.T, args ...string) process {
	t.Helper()
	command := exec.CommandContext(ctx, folder+"/kubectl-graphview", append(args, p.flags...)...)
	command.Env = fixture.Shell(t, cluster, p.config, folder)
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	return process{Cmd: command, out: bufio.NewReader(out)}
}

// interrupt ends the command as Ctrl-C does.
func (p process) interrupt(t *testing.T) {
	t.Helper()
	if err := p.Process.Signal(syscall.SIGINT); err != nil {
		t.Error(err)
	}
	if err := p.Wait(); err != nil && p.ProcessState.ExitCode() != 130 {
		t.Errorf("after Ctrl-C: %v", err)
	}
}

// page is the stream of a dashboard as a browser has it.
type page struct {
	client.Graph

	read func() ([]byte, error)
}

// until follows the stream until it holds.
func (p *page) until(t *testing.T, holds func() bool) {
	t.Helper()
	for !holds() {
		text, err := p.read()
		if err != nil {
			t.Fatal(err)
		}
		var m client.Message
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatal(err)
		}
		p.Apply(&m)
	}
}

// open opens a dashboard of namespaces in a browser. Ctrl-C ends it when the test ends.
func (p person) open(ctx context.Context, t *testing.T, namespaces ...string) *page {
	t.Helper()
	command := p.start(ctx, t, "dashboard", "--local", "--no-open", "-n", strings.Join(namespaces, ","))
	t.Cleanup(func() { command.interrupt(t) })
	address, err := command.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, Transport: &http.Transport{}}
	t.Cleanup(browser.CloseIdleConnections)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSpace(address), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := browser.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	root, _, _ := strings.Cut(address, "/open/")
	socket, _, err := websocket.Dial(ctx, root+"/apis/stream.graphview.dev/v1alpha1/watch/namespaces/"+namespaces[0]+"/graphs/local",
		&websocket.DialOptions{HTTPClient: browser, Subprotocols: []string{"graphview.v1"}, HTTPHeader: http.Header{"Origin": {"http://" + request.URL.Host}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = socket.CloseNow() })
	socket.SetReadLimit(-1)
	return &page{read: func() ([]byte, error) {
		_, text, err := socket.Read(ctx)
		return text, err
	}}
}

// TestDashboard: the page's stream has what the user may list and follows its changes, and Ctrl-C ends
// the command.
func TestDashboard(t *testing.T) {
	p := people()["two"]
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience.For(within)) // the command is ended in order
	t.Cleanup(cancel)
	g := p.open(ctx, t, "blue")
	g.until(t, func() bool { return g.Synced })
	if diff := cmp.Diff(p.listed(t, "blue"), keysOf(&g.Graph)); diff != "" {
		t.Errorf("(-kubectl +page):\n%s", diff)
	}
	fixture.KubectlAfter(t, cluster, "-n", "blue", "delete", "configmap", "live")
	fixture.Kubectl(t, cluster, "-n", "blue", "create", "configmap", "live")
	g.until(t, func() bool {
		return g.Vertices[client.Key{Version: "v1", Resource: "configmaps", Namespace: "blue", Name: "live"}] != nil
	})
}

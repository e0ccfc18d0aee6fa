package stream

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"testing"

	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
)

// TestUnreadAnswers: answers that their user does not read are charged to that user. Beyond a share of
// the memory the user is refused, and is answered again once they are read.
func TestUnreadAnswers(t *testing.T) {
	const limit, size, asked = 16 << 20, 1 << 20, 40
	view := newView("shop/local")
	view.found = &delivery.Found{Vertex: []byte(`"o":"` + string(bytes.Repeat([]byte("a"), size)) + `"`)}
	pipe := NewPipe()
	s, err := New(Options{Cluster: fakeCluster{view}, Sole: &user.DefaultInfo{Name: "ann"}, Listener: pipe, Ledger: budget.NewLedger(limit)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ran; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	path := graphs + "namespaces/shop/graphs/local/object?resource=configmaps&version=v1&namespace=shop&name=a"
	// ask returns the code of an answer. The rest of it is read by finish.
	ask := func() (code int, finish func()) {
		t.Helper()
		conn, err := pipe.Dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: pipe\r\nConnection: close\r\n\r\n", path); err != nil {
			t.Fatal(err)
		}
		head := make([]byte, len("HTTP/1.1 200"))
		if _, err := io.ReadFull(conn, head); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscanf(string(head), "HTTP/1.1 %d", &code); err != nil {
			t.Fatal(err)
		}
		return code, func() {
			_, _ = io.Copy(io.Discard, conn) // until the server closes it
			_ = conn.Close()
		}
	}
	answered := 0
	var unread []func()
	for range asked {
		code, finish := ask()
		switch unread = append(unread, finish); code {
		case 200:
			answered++
		case 429:
		default:
			t.Fatal(code)
		}
	}
	if answered == 0 || answered*size > limit*3/4 {
		t.Errorf("%d answers of %d bytes wait, in a process that may hold %d", answered, size, limit)
	}
	for _, finish := range unread {
		finish()
	}
	if code, finish := ask(); code != 200 {
		t.Errorf("after all were read: %d", code)
	} else {
		finish()
	}
}

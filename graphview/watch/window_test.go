package watch

import (
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"graphview.dev/test/patience"
)

// TestUnreadWatchHoldsLittle: what a server may send of a watch before it is read is
// bounded, be the engine as far behind as it likes.
func TestUnreadWatchHoldsLittle(t *testing.T) {
	var sent atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for chunk := make([]byte, 16<<10); ; sent.Add(int64(len(chunk))) {
			if _, err := w.Write(chunk); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	c, err := newClient(&rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{CAData: ca}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	body, err := c.get(t.Context(), podsKey, metav1.ListOptions{Watch: true}, false)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = body.Close() }()
	patience.Await(t, "a window that is sent", func() bool { return sent.Load() >= streamWindow-64<<10 })
	const ahead = streamWindow + 64<<10 // and what the server has in hand
	buffer := make([]byte, 64<<10)
	for read := int64(0); read < 8<<20; {
		n, err := io.ReadFull(body, buffer)
		if err != nil {
			t.Fatal(err)
		}
		if read += int64(n); sent.Load()-read > ahead {
			t.Fatalf("%d bytes were sent that nobody has read, want at most %d", sent.Load()-read, ahead)
		}
	}
}

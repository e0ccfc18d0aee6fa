package edge

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/replicas"
)

// distant connects to an address on a path that takes a while each way.
func distant(each time.Duration, address string) (net.Conn, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil || each == 0 {
		return conn, err
	}
	time.Sleep(2 * each) // the handshake of TCP
	near, far := net.Pipe()
	go late(far, conn, each)
	go late(conn, far, each)
	return near, nil
}

// late copies bytes, each of them after a while.
func late(to io.WriteCloser, from io.Reader, after time.Duration) {
	type part struct {
		text []byte
		due  time.Time
	}
	parts := make(chan part, 1<<14)
	go func() {
		defer close(parts)
		for {
			text := make([]byte, 32<<10)
			n, err := from.Read(text)
			parts <- part{text[:n], time.Now().Add(after)}
			if err != nil {
				return
			}
		}
	}()
	for p := range parts {
		time.Sleep(time.Until(p.due))
		if _, err := to.Write(p.text); err != nil {
			break
		}
	}
	_ = to.Close()
	for range parts { // until the other side has ended too
	}
}

// BenchmarkFirstGraph is a first graph of 35 MB at an edge, by the distance to the holder.
func BenchmarkFirstGraph(b *testing.B) {
	s := newStage(b)
	const objects, size = 1000, 35 << 10
	for i := range objects {
		s.setLarge("shop", fmt.Sprint("object-", i), size)
	}
	for _, each := range []time.Duration{0, time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond} {
		b.Run(each.String(), func(b *testing.B) {
			for b.Loop() {
				transport := NewTransport(&tls.Config{InsecureSkipVerify: true})
				transport.DialContext = func(_ context.Context, _, address string) (net.Conn, error) { return distant(each, address) }
				client := NewClient(b.Context(), Options{Reach: func(replicas.Member) http.RoundTripper { return transport }})
				relay, err := client.Open(b.Context(), s.member, web, false)
				if err != nil {
					b.Fatal(err)
				}
				c := relay.Subscribe(delivery.SubscribeOptions{Access: newPerson("shop")})
				frames(b, c)
				c.Close()
				client.Close()
				transport.CloseIdleConnections()
			}
		})
	}
}

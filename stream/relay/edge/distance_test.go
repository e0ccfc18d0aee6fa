package edge

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"testing"
	"time"

	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/replicas"
	"graphview.dev/test/peers"
)

// BenchmarkFirstGraph is a first graph of 35 MB at an edge, by the distance to the holder.
func BenchmarkFirstGraph(b *testing.B) {
	s := newStage(b)
	const objects, size = 1000, 35 << 10
	for i := range objects {
		s.setLarge("shop", fmt.Sprint("object-", i), size)
	}
	for _, each := range []time.Duration{0, time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond} {
		b.Run(each.String(), func(b *testing.B) {
			link, err := peers.NewLink(s.member.Address)
			if err != nil {
				b.Fatal(err)
			}
			defer link.Close()
			link.Turn(peers.Weather{Latency: each})
			for b.Loop() {
				transport := NewTransport(&tls.Config{InsecureSkipVerify: true})
				client := NewClient(b.Context(), Options{Reach: func(replicas.Member) http.RoundTripper { return transport }})
				relay, err := client.Open(b.Context(), replicas.Member{Run: s.member.Run, Address: link.Address()}, web, false)
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

package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"

	"graphview.dev/test/env"
	"graphview.dev/test/must"
)

// way is one way to the graphs of the member.
type way struct {
	name  string
	plane *env.ControlPlane // of the users
	base  string            // the URL of the member's API
}

// ways returns the direct way and that through the hub.
func (b *bench) ways() (direct, hub way) {
	return way{"member", b.memberPlane, fmt.Sprintf("https://localhost:%d", b.direct.Port())},
		way{"hub", b.hubPlane, b.hub.URL() + api + "/clusters/" + link + "/proxy"}
}

const api = "/apis/stream.graphview.dev/v1alpha1"

// client returns a client of its own connection for a user of the crowd. HTTP/1.1 gives each
// subscriber a connection, as a WebSocket has.
func (w way) client(user string) *http.Client {
	config := w.plane.ClientConfig(user, crowdGroup)
	config.NextProtos = []string{"http/1.1"}
	return must.Get(rest.HTTPClientFor(config))
}

// stream is one subscriber. It reads JSON lines and decodes none of them, since the processor is that
// of the measured programs too.
type stream struct {
	client   *http.Client
	body     io.ReadCloser
	lines    *bufio.Reader
	messages atomic.Int64
	bytes    atomic.Int64
}

// synced is in the message that completes a graph.
var synced = []byte(`"synced":true`)

// open subscribes to the view of a namespace, and reads until the graph is complete.
func (w way) open(ctx context.Context, client *http.Client, namespace, encoding string) (*stream, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.base+api+"/watch/namespaces/"+namespace+"/graphs/view", http.NoBody)
	if err != nil {
		return nil, err
	}
	// An explicit value stops the transport from adding its own and decoding.
	request.Header.Set("Accept-Encoding", encoding)
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	s := &stream{client: client, body: response.Body}
	var text io.Reader = response.Body
	if response.Header.Get("Content-Encoding") == "gzip" {
		if text, err = gzip.NewReader(response.Body); err != nil {
			return nil, err
		}
	}
	s.lines = bufio.NewReaderSize(text, 64<<10)
	if response.StatusCode != http.StatusOK {
		told, _ := io.ReadAll(s.lines) // the code says enough
		s.close()
		return nil, fmt.Errorf("%s: HTTP %d: %.300s", request.URL, response.StatusCode, told)
	}
	for complete := false; !complete; {
		if err := s.message(func(part []byte) { complete = complete || bytes.Contains(part, synced) }); err != nil {
			s.close()
			return nil, fmt.Errorf("%s: %w", request.URL, err)
		}
	}
	return s, nil
}

// message reads one message in parts that are valid during the call.
func (s *stream) message(part func([]byte)) error {
	for {
		text, err := s.lines.ReadSlice('\n')
		s.bytes.Add(int64(len(text)))
		part(text)
		switch {
		case err == nil:
			if len(text) > 1 { // an empty line is a heartbeat
				s.messages.Add(1)
			}
			return nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}

func (s *stream) close() {
	_ = s.body.Close() // the stream does not end by itself
	s.client.CloseIdleConnections()
}

// eventually opens a stream, again and again while that fails.
func (w way) eventually(ctx context.Context, client *http.Client, namespace, encoding string) *stream {
	for began := time.Now(); ; {
		s, err := w.open(ctx, client, namespace, encoding)
		if err == nil {
			return s
		}
		if ctx.Err() != nil || time.Since(began) > patience {
			must.Do(err)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

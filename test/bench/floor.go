package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"graphview.dev/test/must"
)

// The media types that lists are requested in.
const (
	inJSON     = "application/json"
	inProtobuf = runtime.ContentTypeProtobuf + "," + inJSON
)

// listAll lists every target at the same time and counts the bytes: a lower bound for any
// program that reads the objects in that encoding.
func listAll(ctx context.Context, c *child, accept string, plain bool) {
	config := rest.CopyConfig(c.config)
	// A compressed body is decompressed before it is counted.
	config.DisableCompression = plain
	client := must.Get(rest.HTTPClientFor(config))
	defer client.CloseIdleConnections()
	var total atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for _, target := range targets {
		group.Go(func() error {
			n, err := copyList(ctx, client, config.Host+target.listPath()+"?pretty=false", accept, io.Discard)
			total.Add(n)
			return err
		})
	}
	must.Do(group.Wait())
	c.Bytes = total.Load()
	c.synced()
}

// copyList copies the response to a list and returns its length.
func copyList(ctx context.Context, client *http.Client, url, accept string, out io.Writer) (int64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, fmt.Errorf("list: %w", err)
	}
	request.Header.Set("Accept", accept)
	response, err := client.Do(request)
	if err != nil {
		return 0, fmt.Errorf("list: %w", err)
	}
	defer response.Body.Close()
	n, err := io.Copy(out, response.Body)
	if err != nil {
		return n, fmt.Errorf("list: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return n, fmt.Errorf("list %s: %s", url, response.Status)
	}
	return n, nil
}

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"

	"graphview.dev/test/must"
)

// listAll lists every target at the same time and counts the bytes: a lower bound for any
// program that reads the objects.
func listAll(ctx context.Context, c *child, plain bool) {
	config := rest.CopyConfig(c.config)
	// A compressed body is decompressed before it is counted.
	config.DisableCompression = plain
	client := must.Get(rest.HTTPClientFor(config))
	defer client.CloseIdleConnections()
	var total atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for _, target := range targets {
		group.Go(func() error {
			n, err := copyList(ctx, client, config.Host+target.listPath()+"?pretty=false", io.Discard)
			total.Add(n)
			return err
		})
	}
	must.Do(group.Wait())
	c.Bytes = total.Load()
	c.synced()
}

// copyList copies the response to a list and returns its length.
func copyList(ctx context.Context, client *http.Client, url string, out io.Writer) (int64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, fmt.Errorf("list: %w", err)
	}
	request.Header.Set("Accept", "application/json")
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

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"time"
)

// sample is the graph that the dashboard of make run begins with.
const sample = "/apis/stream.graphview.dev/v1alpha1/namespaces/shop/graphs/namespace"

// within bounds the answer to one request.
const within = time.Minute

// look opens the address as a browser does, and asks for the sample's graph as the page
// does.
func look(ctx context.Context, address string) error {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	browser := &http.Client{Jar: jar, Timeout: within}
	defer browser.CloseIdleConnections()
	page, err := get(ctx, browser, address)
	if err != nil {
		return err
	}
	if !strings.Contains(string(page), "<!doctype html>") {
		return errors.New("the address does not answer with a page")
	}
	at, err := url.Parse(address)
	if err != nil {
		return err
	}
	at.Path, at.RawQuery = sample, "content=summary"
	text, err := get(ctx, browser, at.String())
	if err != nil {
		return err
	}
	var graph struct {
		Actions []struct {
			SetVertex *struct {
				Vertex struct {
					Resource string `json:"r"`
					Name     string `json:"n"`
				} `json:"vx"`
			} `json:"svx"`
		} `json:"actions"`
	}
	if err := json.Unmarshal(text, &graph); err != nil {
		return fmt.Errorf("the sample's graph: %w", err)
	}
	for _, action := range graph.Actions {
		if v := action.SetVertex; v != nil && v.Vertex.Resource == "deployments" && v.Vertex.Name == "web" {
			return nil
		}
	}
	return errors.New("the sample's graph has no Deployment web")
}

func get(ctx context.Context, browser *http.Client, address string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := browser.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", response.Status, text)
	}
	return text, nil
}

package main

import (
	"net/http"

	"graphview.dev/dashboard"
)

// pages returns the handler of the dashboard; nil for none. The page asks for a token unless a
// proxy adds one.
func (o *options) pages() (http.Handler, error) {
	if !o.dashboard {
		return nil, nil
	}
	return dashboard.Handler(dashboard.Options{Token: true})
}

package main

import (
	"net/http"

	"graphview.dev/dashboard"
)

// pages are what is served beside graphs; nil: nothing. The page asks for a token
// where nobody in between adds one.
func (o *options) pages() (http.Handler, error) {
	if !o.dashboard {
		return nil, nil
	}
	return dashboard.Handler(dashboard.Options{Token: true})
}

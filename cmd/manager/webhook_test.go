package main

import (
	"io"
	"strings"
	"testing"
)

func TestWebhookBindAddress(t *testing.T) {
	for name, test := range map[string]struct {
		args    []string
		wantErr bool
	}{
		"off by default":  {},
		"off":             {args: []string{"--webhook-bind-address=0"}},
		"every address":   {args: []string{"--webhook-bind-address=:9443"}},
		"one address":     {args: []string{"--webhook-bind-address=[::1]:9443"}},
		"no port":         {args: []string{"--webhook-bind-address=localhost"}, wantErr: true},
		"no number":       {args: []string{"--webhook-bind-address=:https"}, wantErr: true},
		"any port":        {args: []string{"--webhook-bind-address=:0"}, wantErr: true},
		"not a port":      {args: []string{"--webhook-bind-address=:65536"}, wantErr: true},
		"nothing":         {args: []string{"--webhook-bind-address="}, wantErr: true},
		"something empty": {args: []string{"--webhook-bind-address=:"}, wantErr: true},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse("manager", test.args, io.Discard)
			if (err != nil) != test.wantErr || err != nil && !strings.Contains(err.Error(), "--webhook-bind-address must be") {
				t.Errorf("error %v", err)
			}
		})
	}
}

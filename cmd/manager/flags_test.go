package main

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// A logged error is one line, without a stack trace unless a flag asks for it.
func TestLoggedErrors(t *testing.T) {
	for name, test := range map[string]struct {
		args      []string
		wantTrace bool
	}{
		"by default": {nil, false},
		"asked for":  {[]string{"--zap-stacktrace-level=error"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := parse("manager", test.args, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			o.zap.DestWriter = &out
			o.logger().Error(errors.New("refused"), "Not this time")
			if text := out.String(); !strings.Contains(text, "Not this time") || strings.Count(text, "\n") != 1 || strings.Contains(text, "stacktrace") != test.wantTrace {
				t.Errorf("it says %s", text)
			}
		})
	}
}

// TestRelationMetricsFlag: each GraphView is named with its namespace.
func TestRelationMetricsFlag(t *testing.T) {
	for value, want := range map[string]string{"shop/storefront,shop/web": "", "storefront": `"storefront" is no NAMESPACE/NAME`, "a/b,c/": `"c/" is no NAMESPACE/NAME`, "a/b/c": `"a/b/c" is no`} {
		o, err := parse("manager", []string{"--relation-metrics=" + value}, io.Discard)
		if want == "" && (err != nil || len(o.relations) != 2 || o.relations[1].String() != "shop/web") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", value, err, want)
		}
	}
}

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
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

// TestFlagsAreDocumented: the table of docs/operations.md has each flag with its default, and no other.
func TestFlagsAreDocumented(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1")
	var help bytes.Buffer
	if _, err := parse("manager", []string{"--help"}, &help); !errors.Is(err, errHelp) {
		t.Fatal(err)
	}
	defaults := map[string]string{}
	for _, flag := range regexp.MustCompile(`(?m)^  -([a-z-]+)(?: \S+)?\n(    \t.*)$`).FindAllStringSubmatch(help.String(), -1) {
		defaults[flag[1]] = ""
		if is := regexp.MustCompile(`\(default "?([^()"]*)"?\)$`).FindStringSubmatch(flag[2]); is != nil {
			defaults[flag[1]] = is[1]
		}
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	documented := 0
	for _, row := range regexp.MustCompile("(?m)^\\| (`--[^|]*) \\|([^|]*)\\|").FindAllStringSubmatch(string(page), -1) {
		want := regexp.MustCompile("^(?:`([^`]*)`)?").FindStringSubmatch(strings.TrimSpace(row[2]))[1] // `true` in a Pod, else `false`
		if want == "false" || want == "0" && defaults[strings.Trim(row[1], "`-")] == "" {
			want = "" // which help does not say
		}
		for _, name := range regexp.MustCompile("`--([a-z-]+)`").FindAllStringSubmatch(row[1], -1) {
			documented++
			got, ok := defaults[name[1]]
			delete(defaults, name[1])
			if !ok || got != want && !strings.HasPrefix(name[1], "zap-") { // whose help says it in words
				t.Errorf("docs/operations.md says that --%s is %q by default; it is %q (a flag: %v)", name[1], want, got, ok)
			}
		}
	}
	for name := range defaults {
		t.Errorf("docs/operations.md lacks --%s", name)
	}
	if documented < 30 {
		t.Errorf("the table has %d flags", documented)
	}
}

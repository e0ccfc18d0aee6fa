package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBenchmarks(t *testing.T) {
	got := benchmarks("goos: linux\nBenchmarkReplacePod/1000-2   \t 100\t 12.5 ns/op\t 7 p50-ns\nBenchmarkLoseHub-2 3 9 ns/op\nPASS\n")
	want := map[string]map[string]float64{"BenchmarkReplacePod/1000": {"ns/op": 12.5, "p50-ns": 7}, "BenchmarkLoseHub": {"ns/op": 9}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFunctions(t *testing.T) {
	const text = "File: bench\nType: cpu\nShowing nodes accounting for 1s\n      flat  flat%   sum%        cum   cum%\n" +
		"     0.40s 40.00% 40.00%      0.50s 50.00%  runtime.scan (inline)\n         0     0% 40.00%      0.30s 30.00%  a.b\n"
	want := [][]string{{"`runtime.scan (inline)`", "0.40s", "40.00%", "0.50s", "50.00%"}, {"`a.b`", "0", "0%", "0.30s", "30.00%"}}
	if diff := cmp.Diff(want, functions(text)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestPeers wants the peers to do what is said of them.
func TestPeers(t *testing.T) {
	if took := breadthFirst(); took <= 0 || took.Hours() >= 1 {
		t.Errorf("a graph was walked in %s", took)
	}
	if took := oneByOne(); took <= 0 || took.Hours() >= 1 {
		t.Errorf("selectors were asked in %s: not one of them matched", took)
	}
}

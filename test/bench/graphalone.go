package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"graphview.dev/test/must"
)

// The Go benchmarks of graphview/graph for row 6.
const (
	smallGraph = "BenchmarkReplacePod/1000"
	largeGraph = "BenchmarkReplacePod/120000"
	lostHub    = "BenchmarkLoseHub"
)

// graphAlone measures row 6: Go benchmarks of the graph, without a cluster and without a network.
func graphAlone(ctx context.Context, b *bench) []line {
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^Benchmark(ReplacePod|LoseHub)$", "./graphview/graph")
	cmd.Dir = b.root
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		must.Do(fmt.Errorf("go benchmarks: %w: %s", err, bytes.TrimSpace(text)))
	}
	found := benchmarks(string(text))
	of := func(name, unit string) spread {
		v, ok := found[name][unit]
		if !ok {
			return nil
		}
		return single(v / 1e9)
	}
	microseconds := func(v float64) string { return fmt.Sprintf("%.2f µs", 1e6*v) }
	size := fmt.Sprintf("%.0f vertices and %.0f arcs with roots", found[largeGraph]["vertices"], found[largeGraph]["arcs"])
	recompute, walk := single(breadthFirst().Seconds()), "to walk such a graph once"
	return []line{
		{
			row: 6, what: "one pod replaced among " + size + ", p99", goal: "≤ 10 µs", ours: of(largeGraph, "p99-ns"),
			floor: single(randomReads()), floorName: fmt.Sprintf("%d reads at random from %d MB", readsAtRandom, readFrom>>20), peer: recompute, peerName: walk, format: microseconds, reached: within(10e-6),
		},
		{
			row: 6, what: "… p50, beside a graph of 1,000 vertices", goal: "flat: ≤ 2 ×", ours: of(largeGraph, "p50-ns"),
			floor: of(smallGraph, "p50-ns"), floorName: "1,000 vertices", format: microseconds, reached: timesFloor(2),
		},
		{
			row: 6, what: "a hub of 40,000 vertices lost", goal: "≤ 25 ms", ours: of(lostHub, "ns/op"),
			peer: recompute, peerName: walk, format: milliseconds, reached: within(0.025),
		},
	}
}

// benchmarks reads the output of `go test -bench`: the value of each unit, by the name of the benchmark
// without the number of processors.
func benchmarks(text string) map[string]map[string]float64 {
	found := map[string]map[string]float64{}
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		name, _, _ := strings.Cut(fields[0], "-")
		values := map[string]float64{}
		for i := 2; i+1 < len(fields); i += 2 {
			if v, err := strconv.ParseFloat(fields[i], 64); err == nil {
				values[fields[i+1]] = v
			}
		}
		found[name] = values
	}
	return found
}

// breadthFirst returns the time to walk a graph of 120,000 vertices and 520,000 arcs once,
// with only numbers in it: the cost of each change if visibility were computed from
// scratch.
func breadthFirst() time.Duration {
	const vertices, arcs = 120_000, 520_000
	targets := make([]uint32, arcs)
	for i := range targets {
		targets[i] = uint32((i*2_654_435_761 + 12_345) % vertices)
	}
	best := time.Hour
	for range 5 {
		started := time.Now()
		reached := make([]bool, vertices)
		queue := make([]uint32, 0, vertices)
		// Every hundredth vertex is a root.
		for v := uint32(0); v < vertices; v += 100 {
			reached[v] = true
			queue = append(queue, v)
		}
		for len(queue) > 0 {
			v := int(queue[len(queue)-1])
			queue = queue[:len(queue)-1]
			for _, to := range targets[v*arcs/vertices : (v+1)*arcs/vertices] {
				if !reached[to] {
					reached[to] = true
					queue = append(queue, to)
				}
			}
		}
		best = min(best, time.Since(started))
	}
	return best
}

// A pod of the benchmark has five outgoing arcs and one incoming. To replace the pod reads
// ten places in memory for each of them: the records of the arc and of its neighbours in two lists, the
// record of the other end, and the name that leads to it.
const (
	readsAtRandom = 6 * 10
	readFrom      = 64 << 20 // bytes: about what the graph takes
)

// randomReads returns the 99th percentile of the time for dependent random reads of memory:
// each one needs the result of the last.
func randomReads() float64 {
	const line = 64 / 8
	memory := make([]uint64, readFrom/8)
	for i := range memory {
		memory[i] = uint64(i)
	}
	took := make([]time.Duration, 20_000)
	at := uint64(1)
	for i := range took {
		started := time.Now()
		for range readsAtRandom {
			// A step of Knuth's MMIX generator, with the read value.
			at = 6364136223846793005*(at+memory[at>>33%uint64(len(memory)/line)*line]) + 1442695040888963407
		}
		took[i] = time.Since(started)
	}
	runtime.KeepAlive(at)
	return percentile(took, 99)
}

package helm

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
	"time"
)

// mostAllocated is the number of bytes that one release may allocate in all.
const mostAllocated = 64 << 20

// costOf is what reducing one release allocates and how long it takes.
func costOf(object []byte) (allocated uint64, took time.Duration) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begun := time.Now()
	var reducer Reducer
	reducer.ConfigMap(object)
	took = time.Since(begun)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, took
}

// bombs are manifests that are small where they are kept, and were large or slow to
// read.
var bombs = map[string]string{
	"AliasesOfAString": "{a: &a \"" + strings.Repeat("x", 500_000) + "\", b: [" + strings.Repeat("*a,", 4_000) + "]}\n",
	"ShortAliases":     "{a: &a \"" + strings.Repeat("x", 100_000) + "\", b: [" + strings.Repeat("*a,", 24_000) + "]}\n",
	"LongList":         "[" + strings.Repeat("1,", 1_000_000) + "]\n",
	"List":             "[" + strings.Repeat("1,", 24_000) + "]\n",
	"Dashes":           strings.Repeat("- ", 9_000) + "\n",
	"Maps":             "[" + strings.Repeat("{a},", 12_000) + "]\n",
	"Questions":        "{" + strings.Repeat("? ,", 12_000) + "}\n",
	"Deep":             strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + "\n",
	"DeepMaps":         strings.Repeat("{a: ", 9_000) + strings.Repeat("}", 9_000) + "\n",
	"DeepBlocks":       deepBlocks(500),
	"Documents":        strings.Repeat("{a: 1}\n---\n", 100_000),
	"PlainDocuments":   strings.Repeat("apiVersion: v1\nkind: K\nmetadata:\n  name: a\n---\n", 300_000),
	"PlainKeys":        strings.Repeat("a:\n", 4_000_000),
	"EmptyDocuments":   strings.Repeat("---\n", 4_000_000),
	"Comments":         "{a: 1,\n" + strings.Repeat("# a\n", 60_000) + "}\n",
	"TrailingComments": "a: {}\nkind: 1\n" + strings.Repeat("b: # a\n # b\n\n", 5_000),
	"Quotes":           "kind: \"" + strings.Repeat("\\x41", 60_000) + "\"\n",
	"Folded":           "kind: >\n" + strings.Repeat(" a\n\n", 50_000) + "\n",
	"PlainLines":       "kind: 1\na: b" + strings.Repeat("\n  b", 60_000) + "\n",
	"Anchors":          anchors(8_000),
	"Tags":             "kind: 1\n" + strings.Repeat("%TAG !a! b\n", 20_000),
	"Merges":           mergesOfMerges(12),
	"SimpleKeys":       "{" + strings.Repeat("\"a\" ", 60_000) + "}\n",
	"NoEnd":            strings.Repeat("[\"", 10_000),
}

func deepBlocks(depth int) string {
	var b strings.Builder
	b.WriteString("kind: 1\n")
	for i := range depth {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func anchors(n int) string {
	return "[" + strings.Repeat("&a 1, *a, ", n) + "]\n"
}

// TestBombs: what a release makes is bounded, however small it is kept.
func TestBombs(t *testing.T) {
	for name, manifest := range bombs {
		t.Run(name, func(t *testing.T) {
			object := stored(t, "deployed", packed(t, releaseOf(t, "deployed", manifest)), 1)
			allocated, took := costOf(object)
			t.Logf("%d bytes: %d MiB, %v", len(object), allocated>>20, took.Round(time.Millisecond))
			if allocated > mostAllocated {
				t.Errorf("%d MiB are allocated, want at most %d", allocated>>20, mostAllocated>>20)
			}
		})
	}
}

// FuzzManifest holds the cost of any manifest against what one may cost.
func FuzzManifest(f *testing.F) {
	for _, manifest := range bombs {
		if len(manifest) < 64<<10 {
			f.Add([]byte(manifest), uint16(1))
		}
	}
	for _, layout := range layouts {
		f.Add([]byte(layout.text), uint16(1))
		f.Add([]byte("---\n"+layout.text), uint16(10_000))
	}
	f.Fuzz(func(t *testing.T, manifest []byte, times uint16) {
		if len(manifest)*int(times) > 4<<20 {
			return
		}
		text := string(bytes.Repeat(manifest, int(times)))
		object := stored(t, "deployed", packed(t, releaseOf(t, "deployed", text)), 1)
		allocated, took := costOf(object)
		t.Logf("%d bytes: %d MiB, %v", len(text), allocated>>20, took.Round(time.Millisecond))
		if allocated > mostAllocated {
			t.Errorf("%d MiB are allocated, want at most %d", allocated>>20, mostAllocated>>20)
		}
	})
}

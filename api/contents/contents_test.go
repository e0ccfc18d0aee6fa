package contents

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestHash compares with the vectors of the reference implementation (github.com/veorq/SipHash,
// vectors_hsip64), whose bytes are little-endian.
func TestHash(t *testing.T) {
	seed := seedOf([]byte{0, 1, 2, 3, 4, 5, 6, 7})
	tags := []Tag{0x0001020304050607, 0x08090a0b0c0d0e0f, 0x1011121314151617}
	for n, want := range []uint64{0xc83cb8b9591f8d21, 0x8c85e4bc20e8feed, 0xb5f37b5fd2aa3673, 0xf1a63fae45107470} {
		if got := seed.hash(tags[:n]...); got != want {
			t.Errorf("%d bytes: %016x, want %016x", 8*n, got, want)
		}
	}
}

// TestVectors has the examples of docs/stream.md.
func TestVectors(t *testing.T) {
	web, pod := KeyTag("apps", "v1", "deployments", "shop", "web"), KeyTag("", "v1", "pods", "shop", "web-1")
	content := TagOf([]byte("x"))
	owner := Attributes{Type: "or", Controller: true, Block: true}
	mount := Attributes{Type: "r", Missing: true, Optional: true, Outside: "unwatched", Fields: []string{"spec.a", "spec.b"}, Words: []string{"mounts"}}
	h := New(1, seedOf([]byte{0, 1, 2, 3, 4, 5, 6, 7}))
	h.AddVertex(web, content)
	h.AddVertex(pod, 0)
	h.AddArc(web, pod, owner.Tag())
	got := fmt.Sprintf("%016x %016x %s %016x %016x %s", uint64(web), uint64(pod), content, uint64(owner.Tag()), uint64(mount.Tag()), h)
	const want = "0c197ce6e1bd527e ad9847e09fb7f844 LXEWQrcmsEQ 7b51c28140cff059 7e99318f37757d86 1.0001020304050607.R-Wl0HJCPYLhqklTF_9lhg"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestParse(t *testing.T) {
	h := New(3, Seed{1, 2})
	h.AddVertex(KeyTag("", "v1", "pods", "shop", "a"), 5)
	back, err := Parse(h.String())
	if err != nil || !slices.Equal(back.Sums, h.Sums) || back.Seed != h.Seed || back.Bits != h.Bits {
		t.Fatalf("%v, %v", back, err)
	}
	k := h.Kept(back)
	if again, err := ParseKept(k.String()); err != nil || again.String() != k.String() {
		t.Errorf("%v, %v", again, err)
	}
	sums := strings.Repeat("A", 11)
	for name, text := range map[string]string{
		"nothing": "", "a number": "3", "no sums": "3.0123456789abcdef", "many bits": "60.0123456789abcdef." + sums, "negative": "-1.0123456789abcdef." + sums,
		"bits and sums": "1.0123456789abcdef." + sums, "a short seed": "0.01234567." + sums, "no base64": "0.0123456789abcdef." + strings.Repeat("*", 11),
		"no hexadecimal": "0.0123456789abcdeg." + sums,
	} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%s: %q was parsed", name, text)
		}
	}
	for _, text := range []string{"", "3", "3.", "13." + sums, "3.AAAA", "x.AA", "-1.AA"} {
		if _, err := ParseKept(text); err == nil {
			t.Errorf("keep %q was parsed", text)
		}
	}
}

// differ returns a bucket that two sets of vertices keep though it differs, with tags cut to bits.
func differ(r *rand.Rand, bits int) (found bool) {
	names := func() map[string]int {
		all := map[string]int{}
		for range 64 {
			all[fmt.Sprint("pod-", r.IntN(100))] = r.IntN(3)
		}
		return all
	}
	cut := func(t Tag) Tag { return t >> (64 - bits) << (64 - bits) }
	one, other := names(), names()
	seed := Seed{r.Uint32(), r.Uint32()}
	sum := func(all map[string]int) *Have {
		h := New(4, seed)
		for name, version := range all {
			h.AddVertex(cut(KeyTag("", "v1", "pods", "shop", name)), cut(TagOf([]byte{byte(version)})))
		}
		return h
	}
	kept := sum(one).Kept(sum(other))
	inBucket := func(all map[string]int, bucket int) map[string]int {
		in := map[string]int{}
		for name, version := range all {
			if bucketOf(KeyTag("", "v1", "pods", "shop", name), 4) == bucket {
				in[name] = version
			}
		}
		return in
	}
	for bucket := range 16 {
		if kept.Has(Tag(bucket)<<60) != maps.Equal(inBucket(one, bucket), inBucket(other, bucket)) {
			return true
		}
	}
	return false
}

// TestEqualSums: a bucket is kept if and only if it is equal. With tags of 8 bits the test finds buckets that
// are not, so it can see collisions.
func TestEqualSums(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5_000 {
		if differ(r, 64) {
			t.Fatal("a bucket is kept that differs, or one is not that is equal")
		}
	}
	for range 5_000 {
		if differ(r, 8) {
			return
		}
	}
	t.Error("tags of 8 bits never collide: the test sees nothing")
}

// TestChosenNames: a tenant that knows the seed can hide a change by choosing names, and the same names hide
// nothing under other seeds. The sums are cut to 12 bits, so that names are found at once.
func TestChosenNames(t *testing.T) {
	const mask = 1<<12 - 1
	before, after := TagOf([]byte("before")), TagOf([]byte("after"))
	victim := KeyTag("apps", "v1", "deployments", "shop", "web")
	known := Seed{1, 2}
	name := func(i int) Tag { return KeyTag("", "v1", "configmaps", "shop", fmt.Sprint("c", i)) }
	hides := func(seed Seed, i int) bool {
		return (seed.hash(victim, before)-seed.hash(victim, after)-seed.hash(name(i), before))&mask == 0
	}
	chosen := -1
	for i := 0; chosen < 0; i++ {
		if hides(known, i) {
			chosen = i
		}
	}
	r := rand.New(rand.NewPCG(3, 4))
	hidden := 0
	for range 4 * (mask + 1) {
		if hides(Seed{r.Uint32(), r.Uint32()}, chosen) {
			hidden++
		}
	}
	if hidden > 20 { // 4 are expected by chance
		t.Errorf("the name hides the change under %d of %d seeds", hidden, 4*(mask+1))
	}
}

func FuzzParse(f *testing.F) {
	f.Add(New(2, Seed{1, 2}).String())
	f.Add("0.0000000000000000.AAAAAAAA\n\n\n") // as long as it should be, with ends of lines
	f.Fuzz(func(t *testing.T, text string) {
		if h, err := Parse(text); err == nil && (len(h.Sums) != 1<<h.Bits || h.Bits > MaxBits) {
			t.Errorf("%d bits and %d sums", h.Bits, len(h.Sums))
		}
	})
}

func BenchmarkAddArc(b *testing.B) {
	h := New(12, Seed{1, 2})
	for i := 0; b.Loop(); i++ {
		h.AddArc(Tag(i)<<40, Tag(i), 7)
	}
}

package contents

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// MaxBits is the maximum of Have.Bits: 4,096 buckets.
const MaxBits = 12

// perBucket is the number of vertices in a bucket that BitsFor aims at. The sum of a bucket has 8 bytes, and a
// vertex with its arcs some thousand, so few vertices in a bucket make the exchange smallest.
const perBucket = 4

// BitsFor returns the bits for a graph of that many vertices, at most most.
func BitsFor(vertices, most int) int {
	bits := 0
	for bits < min(most, MaxBits) && vertices>>bits > perBucket {
		bits++
	}
	return bits
}

// Seed is the key of the hash.
type Seed [2]uint32

// NewSeed returns a random seed.
func NewSeed() Seed {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return seedOf(b[:])
}

func seedOf(b []byte) Seed {
	return Seed{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])}
}

// Have has the sums of a copy of a graph.
type Have struct {
	// Bits is the logarithm of the number of buckets.
	Bits int
	Seed Seed
	Sums []uint64
}

// New returns sums of an empty graph.
func New(bits int, seed Seed) *Have {
	return &Have{Bits: bits, Seed: seed, Sums: make([]uint64, 1<<bits)}
}

// bucketOf returns the bucket of a vertex: the first bits of the tag.
func bucketOf(key Tag, bits int) int { return int(key >> 1 >> (63 - bits)) } //nolint:gosec // at most MaxBits bits

// AddVertex adds a vertex with a content.
func (h *Have) AddVertex(key, content Tag) {
	h.Sums[bucketOf(key, h.Bits)] += h.Seed.hash(key, content)
}

// AddArc adds an arc with the tag of its attributes.
func (h *Have) AddArc(from, to, attributes Tag) {
	h.Sums[bucketOf(from, h.Bits)] += h.Seed.hash(from, to, attributes)
}

// String returns the sums as a request has them: the bits, the seed in hexadecimal digits, and 8 bytes for
// each bucket in base64url, separated by dots. Numbers are little-endian.
func (h *Have) String() string {
	seed := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, h.Seed[0]), h.Seed[1])
	sums := make([]byte, 0, 8*len(h.Sums))
	for _, sum := range h.Sums {
		sums = binary.LittleEndian.AppendUint64(sums, sum)
	}
	return strconv.Itoa(h.Bits) + "." + hex.EncodeToString(seed) + "." + base64.RawURLEncoding.EncodeToString(sums)
}

var errForm = errors.New("it must be BITS.SEED.SUMS: a number, 16 hexadecimal digits, and base64url")

// Parse is the inverse of String.
func Parse(text string) (*Have, error) {
	parts := strings.SplitN(text, ".", 3)
	if len(parts) != 3 {
		return nil, errForm
	}
	bits, err := strconv.Atoi(parts[0])
	switch {
	case err != nil:
		return nil, errForm
	case bits < 0 || bits > MaxBits:
		return nil, fmt.Errorf("BITS must be between 0 and %d", MaxBits)
	}
	seed, err := hex.DecodeString(parts[1])
	if err != nil || len(seed) != 8 {
		return nil, errForm
	}
	if want := base64.RawURLEncoding.EncodedLen(8 << bits); len(parts[2]) != want {
		return nil, fmt.Errorf("with %d BITS, SUMS must have %d characters", bits, want)
	}
	sums, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || len(sums) != 8<<bits { // the decoder passes over the ends of lines
		return nil, errForm
	}
	h := New(bits, seedOf(seed))
	for i := range h.Sums {
		h.Sums[i] = binary.LittleEndian.Uint64(sums[8*i:])
	}
	return h, nil
}

// Kept returns the buckets in which two copies are equal. Both must have the same bits and seed.
func (h *Have) Kept(other *Have) *Kept {
	k := &Kept{Bits: h.Bits, buckets: make([]byte, (len(h.Sums)+7)/8)}
	for i, sum := range h.Sums {
		if sum == other.Sums[i] {
			k.buckets[i/8] |= 1 << (i % 8)
		}
	}
	return k
}

// Kept are the buckets of a graph that a reset keeps.
type Kept struct {
	Bits    int
	buckets []byte
}

// Has reports whether a vertex and the arcs that begin there are kept.
func (k *Kept) Has(key Tag) bool {
	i := bucketOf(key, k.Bits)
	return k.buckets[i/8]&(1<<(i%8)) != 0
}

// String returns the buckets as the member keep has them: the bits, a dot, and one bit for each bucket in
// base64url, the first in the lowest bit of the first byte.
func (k *Kept) String() string {
	return strconv.Itoa(k.Bits) + "." + base64.RawURLEncoding.EncodeToString(k.buckets)
}

// ParseKept is the inverse of String.
func ParseKept(text string) (*Kept, error) {
	number, buckets, _ := strings.Cut(text, ".")
	bits, err := strconv.Atoi(number)
	if err != nil || bits < 0 || bits > MaxBits {
		return nil, errors.New("keep: the number of bits is wrong")
	}
	k := &Kept{Bits: bits}
	if k.buckets, err = base64.RawURLEncoding.DecodeString(buckets); err != nil || len(k.buckets) != (1<<bits+7)/8 {
		return nil, errors.New("keep: the length is wrong")
	}
	return k, nil
}

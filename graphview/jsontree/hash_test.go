package jsontree

import (
	"encoding/json"
	"hash/maphash"
	"math/rand/v2"
	"reflect"
	"testing"

	"graphview.dev/test/seed"
)

// hashOf returns the Hash of an object under a common seed.
func hashOf(text []byte, shape *Shape) uint64 {
	var h maphash.Hash
	h.SetSeed(hashSeed)
	Hash(&h, text, shape)
	return h.Sum64()
}

var hashSeed = maphash.MakeSeed()

// randomValue returns a value of few different members and elements, so that equal ones are frequent.
func randomValue(random *rand.Rand, depth int) any {
	switch n := random.IntN(8); {
	case n < 3 && depth > 0:
		object := map[string]any{}
		for range random.IntN(4) {
			object[string(rune('a'+random.IntN(4)))] = randomValue(random, depth-1)
		}
		return object
	case n < 5 && depth > 0:
		list := []any{}
		for range random.IntN(3) {
			list = append(list, randomValue(random, depth-1))
		}
		return list
	case n < 6:
		return random.IntN(2)
	case n < 7:
		return []string{"", "x", `"}],`, "1"}[random.IntN(4)]
	}
	return nil
}

// randomShape asks for a part of such a value.
func randomShape(random *rand.Rand, s *Shape, depth int) {
	if random.IntN(5) == 0 || depth == 0 {
		s.Whole()
		return
	}
	for range random.IntN(3) {
		randomShape(random, s.Field(string(rune('a'+random.IntN(4)))), depth-1)
	}
	if random.IntN(4) == 0 {
		randomShape(random, s.Values(), depth-1)
	}
	if random.IntN(3) == 0 {
		randomShape(random, s.First(random.IntN(3)), depth-1)
	}
}

// TestHash compares random objects: those with equal hashes have equal parts.
func TestHash(t *testing.T) {
	random := rand.New(rand.NewPCG(seed.Of(t), 1))
	equal := 0
	for range 300 {
		var shape Shape
		randomShape(random, &shape, 3)
		type seen struct {
			text []byte
			part map[string]any
		}
		byHash := map[uint64]seen{}
		for range 100 {
			text, err := json.Marshal(map[string]any{"a": randomValue(random, 2), "b": randomValue(random, 1), "c": randomValue(random, 1)})
			if err != nil {
				t.Fatal(err)
			}
			part, err := Part(text, &shape)
			if err != nil {
				t.Fatal(err)
			}
			sum := hashOf(text, &shape)
			if other, ok := byHash[sum]; !ok {
				byHash[sum] = seen{text, part}
			} else if equal++; !reflect.DeepEqual(part, other.part) {
				t.Fatalf("equal hashes of %s and %s, whose parts differ: %v, %v", text, other.text, part, other.part)
			}
		}
	}
	if equal < 1000 {
		t.Errorf("only %d equal hashes", equal)
	}
}

func TestHashLeavesOut(t *testing.T) {
	var shape Shape
	shape.Field("spec").Whole()
	shape.Field("metadata", "labels").Whole()
	base := hashOf([]byte(`{"kind":"Pod","metadata":{"labels":{"a":"b"},"resourceVersion":"1"},"spec":{"n":[1]},"status":{"phase":"x"}}`), &shape)
	for text, same := range map[string]bool{
		`{"kind":"Pod","metadata":{"labels":{"a":"b"},"resourceVersion":"22"},"spec":{"n":[1]},"status":{}}`: true,
		`{"kind":"Pod","metadata":{"labels":{"a":"c"},"resourceVersion":"1"},"spec":{"n":[1]},"status":{}}`:  false,
		`{"kind":"Pod","metadata":{"labels":{"a":"b"},"resourceVersion":"1"},"spec":{"n":[1,1]}}`:            false,
		`{"kind":"Pod","metadata":{},"spec":{"n":[1]}}`:                                                      false,
	} {
		if (hashOf([]byte(text), &shape) == base) != same {
			t.Errorf("the hash is the same: %t: %s", !same, text)
		}
	}
}

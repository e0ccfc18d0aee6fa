package seed

import (
	"hash/fnv"
	"os"
	"strconv"
	"testing"
	"time"
)

// Variable is the environment variable that overrides the seed: a number, or clock for a
// seed from the time.
const Variable = "GRAPHVIEW_SEED"

// Of is the seed of a test, by its name. If the test fails, it says which it was.
func Of(tb testing.TB) uint64 {
	tb.Helper()
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(tb.Name())) // it never fails
	seed := hash.Sum64()
	switch text := os.Getenv(Variable); text {
	case "":
	case "clock":
		seed = uint64(time.Now().UnixNano())
	default:
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			tb.Fatalf("%s: %v", Variable, err)
		}
	}
	tb.Logf("%s=%d", Variable, seed)
	return seed
}

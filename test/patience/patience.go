// Package patience stretches the time limits of tests on a slow machine. A limit is a guard: it ends
// a test that waits in vain, and no test passes because of it.
//
// It imports only the standard library, so that tests of any package may use it.
package patience

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"
)

// Variable is the environment variable with the factor, such as 4. Without it limits stay as
// they are.
const Variable = "GRAPHVIEW_PATIENCE"

var factor = sync.OnceValue(func() float64 {
	factor, err := parse(os.Getenv(Variable))
	if err != nil {
		panic(err) // a test that ignored the variable would fail on the machine that needs it
	}
	return factor
})

// For returns the limit, stretched by the factor.
func For(limit time.Duration) time.Duration { return time.Duration(float64(limit) * factor()) }

func parse(text string) (float64, error) {
	if text == "" {
		return 1, nil
	}
	factor, err := strconv.ParseFloat(text, 64)
	if err != nil || !(factor >= 1 && factor <= 100) {
		return 0, fmt.Errorf("%s is %q; set it to a number from 1 to 100", Variable, text)
	}
	return factor, nil
}

package metrics

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const text = `# HELP a of b
# TYPE a counter
a{x="1",y="1"} 2
a{x="2",y="1"} 3.5
ab 100
# TYPE h histogram
h_bucket{le="0.001"} 3
h_bucket{le="+Inf"} 4
h_sum 1.5
h_count 4
`

func TestSum(t *testing.T) {
	families, err := Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		series string
		labels []string
		want   float64
		err    error
	}{
		"all series":  {"a", nil, 5.5, nil},
		"by a label":  {"a", []string{"x", "2"}, 3.5, nil},
		"by both":     {"a", []string{"x", "2", "y", "1"}, 3.5, nil},
		"by none":     {"a", []string{"x", "3"}, 0, ErrNone},
		"untyped":     {"ab", nil, 100, nil},
		"not served":  {"b", nil, 0, ErrNone},
		"other label": {"a", []string{"z", "1"}, 0, ErrNone},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := families.Sum(test.series, test.labels...); got != test.want || !errors.Is(err, test.err) {
				t.Errorf("%v, error %v, want %v, %v", got, err, test.want, test.err)
			}
		})
	}
	buckets, err := families.Buckets("h")
	if diff := cmp.Diff(map[float64]float64{0.001: 3, math.Inf(1): 4}, buckets); diff != "" || err != nil {
		t.Errorf("error %v, (-want +got):\n%s", err, diff)
	}
	if _, err := families.Buckets("a"); !errors.Is(err, ErrNone) {
		t.Errorf("error %v, want ErrNone", err)
	}
}

func TestParseRefusesOtherTexts(t *testing.T) {
	if _, err := Parse(strings.NewReader("{}")); err == nil {
		t.Error("no error")
	}
}

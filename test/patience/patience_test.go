package patience

import "testing"

func TestParse(t *testing.T) {
	for text, want := range map[string]float64{"": 1, "1": 1, "2.5": 2.5, "100": 100, "0": 0, "-1": 0, "101": 0, "NaN": 0, "four": 0} {
		got, err := parse(text)
		if got != want || (err != nil) != (want == 0) {
			t.Errorf("%q is %v (%v), want %v", text, got, err, want)
		}
	}
}

package jsontree

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestElements(t *testing.T) {
	for _, text := range []string{`[]`, `[1]`, `["a,]","b\"]",{"a":[1,2]},[3,[4]],null,-1.5e3,true]`, `[ 1 , {"a" : 2} ]`} {
		var want []json.RawMessage
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		var got []json.RawMessage
		for _, element := range Elements([]byte(text)) {
			got = append(got, element)
		}
		if d := cmp.Diff(len(want), len(got)); d != "" {
			t.Fatalf("%s: %s", text, d)
		}
		for i := range want {
			if string(want[i]) != string(got[i]) {
				t.Errorf("%s: element %d is %s, want %s", text, i, got[i], want[i])
			}
		}
	}
	if got := Elements([]byte(`{"a":1}`)); got != nil {
		t.Errorf("%s", got)
	}
}

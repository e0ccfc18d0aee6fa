package subscriber

import "testing"

func TestHead(t *testing.T) {
	for name, c := range map[string]struct {
		text       string
		wantRev    string
		wantSynced bool
		wantErr    bool
	}{
		"synced":          {`{"actions":[],"rev":"r","synced":true}`, "r", true, false},
		"first member":    {`{"synced":true,"rev":"r"}`, "r", true, false},
		"not yet":         {`{"actions":[{"svx":{}}]}`, "", false, false},
		"in an object":    {`{"actions":[{"svx":{"o":{"synced":true}}}],"rev":"r"}`, "r", false, false},
		"in a string":     {`{"rev":"\"synced\":true"}`, `"synced":true`, false, false},
		"false":           {`{"synced":false}`, "", false, false},
		"nothing":         {`{}`, "", false, false},
		"a list":          {`[]`, "", false, true},
		"not JSON at all": {`synced`, "", false, true},
		"cut off":         {`{"actions":[`, "", false, true},
		"not ended":       {`{"synced":true`, "", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Head([]byte(c.text))
			if (err != nil) != c.wantErr {
				t.Fatalf("error %v, want one: %t", err, c.wantErr)
			}
			if err == nil && (got.Rev != c.wantRev || got.Synced != c.wantSynced) {
				t.Errorf("rev %q, synced %t; want %q, %t", got.Rev, got.Synced, c.wantRev, c.wantSynced)
			}
		})
	}
}

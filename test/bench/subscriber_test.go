package main

import "testing"

func TestSaysSynced(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		want    bool
		wantErr bool
	}{
		"synced":          {`{"actions":[],"rev":"r","synced":true}`, true, false},
		"first member":    {`{"synced":true,"rev":"r"}`, true, false},
		"not yet":         {`{"actions":[{"svx":{}}]}`, false, false},
		"in an object":    {`{"actions":[{"svx":{"o":{"synced":true}}}],"rev":"r"}`, false, false},
		"in a string":     {`{"rev":"\"synced\":true"}`, false, false},
		"false":           {`{"synced":false}`, false, false},
		"nothing":         {`{}`, false, false},
		"not JSON at all": {`synced`, false, true},
		"cut off":         {`{"actions":[`, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := saysSynced([]byte(c.text))
			if got != c.want || (err != nil) != c.wantErr {
				t.Errorf("%v, error %v; want %v, error %v", got, err, c.want, c.wantErr)
			}
		})
	}
}

package watch

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func TestReadList(t *testing.T) {
	tests := map[string]struct {
		body        string
		want        []string
		wantVersion string
		wantErr     string
	}{
		"as Go types are written": {
			body:        `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7","remainingItemCount":3},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}`,
			want:        []string{`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}`, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"b"}}`},
			wantVersion: "7",
		},
		"as custom resources are written": {
			body:        `{"apiVersion":"example.com/v1","items":[{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"}}],"kind":"WidgetList","metadata":{"resourceVersion":"7"}}`,
			want:        []string{`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"}}`},
			wantVersion: "7",
		},
		"as nobody writes it": {
			body:        " {\"items\" : [ {\"metadata\":{\"name\":\"a\"}} , {\"metadata\":{\"name\":\"b\"}} ], \"unknown\":[{}], \"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"7\"}}\n",
			want:        []string{`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}`, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"b"}}`},
			wantVersion: "7",
		},
		"of many kinds": {
			body: `{"kind":"List","apiVersion":"v1","items":[{"metadata":{"name":"a"}},{"kind":"Pod","apiVersion":"v1","metadata":{"name":"b"}}]}`,
			want: []string{`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"b"}}`, "no apiVersion or kind"},
		},
		"empty":            {body: `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[]}`},
		"null":             {body: `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":null}`},
		"another object":   {body: `{"kind":"Status","apiVersion":"v1"}`, wantErr: errNoList.Error()},
		"not an object":    {body: `["a"]`, wantErr: errNoList.Error()},
		"items is none":    {body: `{"items":{}}`, wantErr: errNoList.Error()},
		"metadata is none": {body: `{"metadata":[]}`, wantErr: errNoList.Error()},
		"nothing":          {body: ``, wantErr: io.ErrUnexpectedEOF.Error()},
		"truncated":        {body: `{"items":[{"metadata":{"name":"a`, wantErr: io.ErrUnexpectedEOF.Error()},
		"truncated after items": {
			body: `{"kind":"PodList","apiVersion":"v1","items":[]`, wantErr: io.ErrUnexpectedEOF.Error(),
		},
		"malformed": {body: `{"items":[{"SECRET":nope}]}`, wantErr: "malformed JSON at byte 21"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			l := listReader{take: func(d *document, invalid error) error {
				if invalid != nil {
					got = append(got, invalid.Error())
				} else {
					got = append(got, string(d.json))
				}
				return nil
			}}
			meta, err := l.read(iotest.OneByteReader(strings.NewReader(test.body)))
			if test.wantErr != "" {
				if err == nil || err.Error() != test.wantErr {
					t.Errorf("err = %v, want %s", err, test.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("items (-want +got):\n%s", diff)
			}
			if meta.ResourceVersion != test.wantVersion {
				t.Errorf("resourceVersion = %q", meta.ResourceVersion)
			}
		})
	}
}

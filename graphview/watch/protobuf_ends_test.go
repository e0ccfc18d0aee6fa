//go:build !race

package watch

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestReadProtobufListEnds(t *testing.T) {
	encoded := encode(podList(2))
	m := messageOf(kindPods)
	for n := range len(encoded) - 4 { // without the two empty fields at the end, it is whole
		if _, _, err := readList(bytes.NewReader(encoded[:n]), m, false); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("after %d bytes: %v", n, err)
		}
	}
	lost := errors.New("lost")
	if _, _, err := readList(io.MultiReader(bytes.NewReader(encoded[:500]), iotest.ErrReader(lost)), m, false); !errors.Is(err, lost) {
		t.Errorf("a lost connection: %v", err)
	}
	status := encode(&metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}})
	if _, _, err := readList(bytes.NewReader(status), m, false); !errors.Is(err, errNoList) {
		t.Errorf("a Status: %v", err)
	}
}

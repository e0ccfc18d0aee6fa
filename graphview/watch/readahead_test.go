package watch

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var errTorn = errors.New("torn")

// TestReadAhead compares lists that are read ahead with others.
func TestReadAhead(t *testing.T) {
	list := podList(3*aheadObjects + 1)
	list.Items[5].Annotations = map[string]string{"long": string(bytes.Repeat([]byte("x"), 2*aheadBytes))}
	list.Items[6].Name = "" // invalid
	inJSON, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	for encoding, text := range map[string][]byte{"JSON": inJSON, "Protobuf": encode(list)} {
		for name, reader := range map[string]func() io.Reader{
			"all":            func() io.Reader { return bytes.NewReader(text) },
			"byte by byte":   func() io.Reader { return iotest.OneByteReader(bytes.NewReader(text)) },
			"the end beside": func() io.Reader { return iotest.DataErrReader(bytes.NewReader(text)) },
			"nothing":        func() io.Reader { return bytes.NewReader(nil) },
			"cut":            func() io.Reader { return bytes.NewReader(text[:len(text)/2]) },
			"torn": func() io.Reader {
				return io.MultiReader(bytes.NewReader(text[:len(text)/2]), iotest.ErrReader(errTorn))
			},
			"torn at once": func() io.Reader { return iotest.ErrReader(errTorn) },
		} {
			t.Run(encoding+"/"+name, func(t *testing.T) {
				want, wantMeta, wantErr := readObjects((*listReader).read, reader())
				got, meta, err := readObjects(func(l *listReader, r io.Reader) (metav1.ListMeta, error) {
					return l.readAhead(r, io.NopCloser(nil))
				}, reader())
				if !slices.Equal(got, want) || meta.ResourceVersion != wantMeta.ResourceVersion {
					t.Errorf("%d objects, %+v, want %d, %+v", len(got), meta, len(want), wantMeta)
				}
				if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
					t.Errorf("err = %v, want %v", err, wantErr)
				}
			})
		}
	}
}

// readObjects returns the objects of a list of pods in either encoding.
func readObjects(read func(*listReader, io.Reader) (metav1.ListMeta, error), r io.Reader) (objects []string, meta metav1.ListMeta, err error) {
	l := &listReader{message: messageOf(kindPods), take: func(d *document, invalid error) error {
		if invalid != nil {
			objects = append(objects, invalid.Error())
		} else {
			objects = append(objects, string(d.json))
		}
		return nil
	}}
	meta, err = read(l, r)
	return objects, meta, err
}

// countingReader counts the bytes that were read.
type countingReader struct {
	io.Reader

	bytes atomic.Int64
}

func (r *countingReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.bytes.Add(int64(n))
	return n, err
}

// TestReadAheadIsBounded lets the server wait while objects are taken slowly.
func TestReadAheadIsBounded(t *testing.T) {
	text := encode(podList(1000))
	one := int64(len(text) / 1000)
	synctest.Test(t, func(t *testing.T) {
		r := &countingReader{Reader: bytes.NewReader(text)}
		taken := 0
		l := listReader{message: messageOf(kindPods), take: func(*document, error) error {
			synctest.Wait()
			most := int64(taken+1+aheadBatches*aheadObjects)*one + mostAhead
			if read := r.bytes.Load(); read > most+one || taken == 0 && read < aheadObjects*one {
				t.Errorf("%d bytes were read when %d objects of %d were taken, want at most %d", read, taken, one, most)
			}
			taken++
			return nil
		}}
		if _, err := l.readAhead(r, io.NopCloser(nil)); err != nil || taken != 1000 {
			t.Errorf("%d objects, err = %v", taken, err)
		}
	})
}

// TestReadAheadOfASilentServer ends a list whose server has sent some objects and sends no more.
func TestReadAheadOfASilentServer(t *testing.T) {
	text := encode(podList(1000))
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		go func() {
			_, _ = w.Write(text[:len(text)/2])
		}()
		l := listReader{message: messageOf(kindPods), take: func(*document, error) error {
			synctest.Wait()
			return errTorn
		}}
		if _, err := l.readAhead(r, r); !errors.Is(err, errTorn) {
			t.Errorf("err = %v, want that of the taker", err)
		}
	})
}

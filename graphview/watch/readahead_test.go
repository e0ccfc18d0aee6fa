package watch

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
)

// countingReader counts what has been asked of it.
type countingReader struct {
	io.Reader

	reads atomic.Int32
}

func (r *countingReader) Read(p []byte) (int, error) {
	r.reads.Add(1)
	return r.Reader.Read(p)
}

// TestReadAhead: what is read is what there is, and then why there is no more.
func TestReadAhead(t *testing.T) {
	want := make([]byte, 5*aheadPiece+7)
	for i := range want {
		want[i] = byte(rand.Uint32())
	}
	failure := errors.New("torn")
	for name, test := range map[string]struct {
		reader  io.Reader
		want    []byte
		wantErr error
	}{
		"all":            {bytes.NewReader(want), want, nil},
		"byte by byte":   {iotest.OneByteReader(bytes.NewReader(want)), want, nil},
		"the end beside": {iotest.DataErrReader(bytes.NewReader(want)), want, nil},
		"nothing":        {bytes.NewReader(nil), []byte{}, nil},
		"torn":           {io.MultiReader(bytes.NewReader(want), iotest.ErrReader(failure)), want, failure},
		"torn at once":   {iotest.ErrReader(failure), []byte{}, failure},
	} {
		t.Run(name, func(t *testing.T) {
			a := readAhead(test.reader, io.NopCloser(nil), false)
			defer a.close()
			got, err := io.ReadAll(iotest.HalfReader(a))
			if !bytes.Equal(got, test.want) || !errors.Is(err, test.wantErr) {
				t.Errorf("%d bytes, err = %v, want %d, %v", len(got), err, len(test.want), test.wantErr)
			}
			if _, again := a.Read(make([]byte, 1)); err != nil && !errors.Is(again, err) {
				t.Errorf("read again: %v", again)
			}
		})
	}
}

// TestReadAheadIsBounded: a slow consumer blocks the server once the read-ahead is full.
func TestReadAheadIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &countingReader{Reader: bytes.NewReader(make([]byte, 10*aheadPiece))}
		a := readAhead(r, io.NopCloser(nil), false)
		defer a.close()
		for taken := range int32(4) {
			synctest.Wait()
			if got, want := r.reads.Load(), aheadPieces+max(taken-1, 0); got != want {
				t.Errorf("%d pieces read ahead with %d taken, want %d", got, taken, want)
			}
			if _, err := io.ReadFull(a, make([]byte, aheadPiece)); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestReadAheadOfASilentServer: to close the body ends the goroutine.
func TestReadAheadOfASilentServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		defer w.Close()
		a := readAhead(r, r, false)
		synctest.Wait()
		a.close()
		select {
		case <-a.done:
		default:
			t.Error("the goroutine goes on")
		}
	})
}

// TestReadAheadOfSecrets: no buffer keeps anything of them, whether it was wanted or not.
func TestReadAheadOfSecrets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var places placesReader
		a := readAhead(&places, io.NopCloser(nil), true)
		if _, err := io.ReadFull(a, make([]byte, aheadPiece+1)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		a.close()
		if len(places.all) <= aheadPieces {
			t.Errorf("%d pieces were read, want more than %d", len(places.all), aheadPieces)
		}
		for _, place := range places.all {
			if bytes.ContainsRune(place, 'S') {
				t.Fatal("a buffer has something left")
			}
		}
	})
}

// placesReader fills each buffer that it reads into, and records it.
type placesReader struct{ all [][]byte }

func (r *placesReader) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'S'
	}
	r.all = append(r.all, p)
	return len(p), nil
}

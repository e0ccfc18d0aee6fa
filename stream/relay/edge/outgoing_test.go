package edge

import (
	"bytes"
	"testing"
)

// TestOutgoing: all that is said is read once and in order, however slowly, and what has
// been read takes no room.
func TestOutgoing(t *testing.T) {
	const most = 4 << 10
	o := newOutgoing(t.Context())
	var said, heard []byte
	read := func(room int) {
		t.Helper()
		p := make([]byte, room)
		n, err := o.Read(p)
		if err != nil {
			t.Fatal(err)
		}
		heard = append(heard, p[:n]...)
	}
	for i := range 1000 {
		message := bytes.Repeat([]byte{byte(i)}, 1+i%100)
		said = append(said, message...)
		o.say(message)
		// There is always something left.
		for len(said)-len(heard) > 500 {
			read(64)
		}
		if cap(o.text) > most {
			t.Fatalf("%d bytes are kept for %d", cap(o.text), len(said)-len(heard))
		}
	}
	for len(heard) < len(said) {
		read(64)
	}
	if !bytes.Equal(said, heard) {
		t.Error("what was read is not what was said")
	}
	if cap(o.text) > quietBytes {
		t.Errorf("%d bytes are kept for nothing", cap(o.text))
	}
}

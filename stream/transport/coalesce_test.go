package transport

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// wireFrame is a frame as a server sends it.
func wireFrame(last bool, payload []byte) []byte {
	frame := []byte{1}
	if last {
		frame[0] |= 0x80
	}
	switch n := len(payload); {
	case n < 126:
		frame = append(frame, byte(n))
	case n < 1<<16:
		frame = append(frame, 126, byte(n>>8), byte(n))
	default:
		frame = append(frame, 127, 0, 0, 0, 0, 0, byte(n>>16), byte(n>>8), byte(n))
	}
	return append(frame, payload...)
}

type writes [][]byte

func (w *writes) Write(p []byte) (int, error) {
	*w = append(*w, bytes.Clone(p))
	return len(p), nil
}

// TestWholeMessages: whatever parts messages are written in, small ones go out as
// one, in order, and at the latest with their last byte.
func TestWholeMessages(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var out writes
	w := &frameCoalescer{out: &out}
	for n := range 2000 {
		var message []byte
		for frames := 1 + r.IntN(3); frames > 0; frames-- {
			size := []int{0, 1, 125, 126, 127, 1000, maxWhole / 4, maxWhole + 10, 1<<16 + 1}[r.IntN(9)]
			message = append(message, wireFrame(frames == 1, bytes.Repeat([]byte{byte(n)}, size))...)
		}
		out = nil
		for rest := message; len(rest) > 0; {
			part := min(len(rest), []int{1, 2, 64, maxWhole / 2, 1 << 20}[r.IntN(5)])
			if part < 64 && len(rest) > 2*maxWhole {
				part = 5000 // byte by byte takes its time
			}
			if k, err := w.Write(rest[:part]); err != nil || k != part {
				t.Fatalf("%d of %d bytes written, %v", k, part, err)
			}
			rest = rest[part:]
		}
		if sent := bytes.Join(out, nil); !bytes.Equal(sent, message) {
			t.Fatalf("message %d of %d bytes: %d were sent", n, len(message), len(sent))
		}
		if len(message) <= maxWhole && len(out) != 1 {
			t.Fatalf("a message of %d bytes went out in %d writes", len(message), len(out))
		}
		if w.begun != nil {
			t.Fatal("a buffer is held between messages")
		}
	}
}

// TestLargeFramesHoldNoBuffer: a writer that waits for a peer to read a large frame holds no
// buffer.
func TestLargeFramesHoldNoBuffer(t *testing.T) {
	frame := wireFrame(true, make([]byte, maxWhole+1))
	for name, sizes := range map[string][]int{"as a small buffer writes it": {writeBuffer, len(frame)}, "header first": {4, len(frame)}} {
		t.Run(name, func(t *testing.T) {
			w := &frameCoalescer{}
			w.out = writerFunc(func(p []byte) (int, error) {
				if w.begun != nil {
					t.Error("a buffer is held while a part of the frame is written")
				}
				return len(p), nil
			})
			rest := frame
			for _, size := range sizes {
				part := min(size, len(rest))
				if _, err := w.Write(rest[:part]); err != nil {
					t.Fatal(err)
				}
				rest = rest[part:]
			}
		})
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

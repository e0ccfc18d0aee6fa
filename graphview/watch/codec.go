package watch

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
)

// Objects of one resource look alike, so each Watch compresses with a
// dictionary made of a few of its own objects. With S2 a pod of 5 KB then takes
// some 770 bytes, and comes back in a microsecond or two; with Zstandard 440, and
// five. But an S2 dictionary with its table takes some 60 KiB, a Zstandard encoder
// most of a megabyte, so a Watch has either only when it has the objects to share
// the cost; the ones before stay as they were compressed.
const (
	lightAfter   = 16
	denseAfter   = 4096
	dictSize     = 24 << 10
	dictPerThing = 8 << 10
	// typicalStart lets the encoder start each object with a long match.
	typicalStart = `{"apiVersion":"`
	// denseWindow is how far back matches reach: most objects are smaller.
	denseWindow = 128 << 10
)

// codec compresses and decompresses with one dictionary: with S2, or with Zstandard
// where light is nil. A nil codec is S2 without a dictionary. One goroutine at a time
// may encode, while any number decodes.
type codec struct {
	light   *s2.Dict
	encoder *zstd.Encoder
	decoder *zstd.Decoder
}

func (c *codec) dense() bool { return c != nil && c.light == nil }

// newLightCodec is nil if the samples are too few for a dictionary.
func newLightCodec(samples []byte) *codec {
	dict := s2.MakeDict(samples, []byte(typicalStart))
	if dict == nil {
		return nil
	}
	return &codec{light: dict}
}

func newDenseCodec(samples []byte) (*codec, error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderDictRaw(1, samples),
		zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(denseWindow), zstd.WithEncoderCRC(false))
	if err != nil {
		return nil, fmt.Errorf("encoder: %w", err)
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderDictRaw(1, samples), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, fmt.Errorf("decoder: %w", err)
	}
	return &codec{encoder: encoder, decoder: decoder}, nil
}

// encode may use all of scratch for its result.
func (c *codec) encode(scratch, json []byte) []byte {
	switch {
	case c == nil:
		return s2.Encode(scratch, json)
	case c.light != nil:
		return c.light.Encode(scratch, json)
	}
	return c.encoder.EncodeAll(json, scratch[:0])
}

// decode fills room, which has the length of the decoded JSON. It returns room unless packed is
// corrupt.
func (c *codec) decode(room, packed []byte) ([]byte, error) {
	switch {
	case c == nil:
		return s2.Decode(room, packed)
	case c.light != nil:
		return c.light.Decode(room, packed)
	}
	return c.decoder.DecodeAll(packed, room[:0:len(room)])
}

// improveCodec gives the Watch, under its lock, the codec that pays for as many
// objects as it has come to have.
func (w *Watch) improveCodec() {
	switch {
	case w.objects.used == lightAfter && w.codec == nil:
		w.codec = newLightCodec(w.objects.samples())
	case w.objects.used == denseAfter && !w.codec.dense():
		dense, err := newDenseCodec(w.objects.samples())
		if err != nil {
			// Only options that do not fit each other can be the reason.
			w.log.Error(err, "objects are retained less densely than they could be")
			return
		}
		w.codec = dense
	}
}

// samples are the beginnings of some objects.
func (s *shelf) samples() []byte {
	var samples, one []byte
	for o := range s.all {
		var err error
		if one, err = o.unpack(one[:0]); err != nil {
			continue
		}
		samples = append(samples, one[:min(len(one), dictPerThing)]...)
		if len(samples) >= dictSize {
			break
		}
	}
	return samples
}

// rawBelow is how much JSON is not worth compressing.
const rawBelow = 128

// scratches are buffers for compression and decompression. An idle Watch holds none.
var scratches = sync.Pool{New: func() any { return new([]byte) }}

func getScratch() *[]byte {
	return scratches.Get().(*[]byte) //nolint:forcetypeassert // New makes nothing else
}

func putScratch(b *[]byte) {
	if cap(*b) <= 1<<20 {
		scratches.Put(b)
	}
}

// pack retains a name, a UID, neither longer than maxName, and json, compressed.
func pack(o *Object, name, uid, json []byte, c *codec) {
	o.size = uint32(len(json))                          //nolint:gosec // an API server stores no objects of 4 GiB
	o.name, o.uid = uint16(len(name)), uint16(len(uid)) //nolint:gosec // see maxName
	packs, whole := getScratch(), getScratch()
	defer putScratch(packs)
	defer putScratch(whole)
	packed := json
	if len(json) >= rawBelow {
		packed, o.codec = c.encode(*packs, json), c
		*packs = packed[:0]
	}
	if len(packed) >= len(json) {
		packed, o.codec = json, nil
		o.flags |= plain
	}
	*whole = append(append(append((*whole)[:0], name...), uid...), packed...)
	o.data = string(*whole)
}

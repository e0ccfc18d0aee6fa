package watch

import (
	"bytes"
	"fmt"
	"math"
	"sync"

	"github.com/google/uuid"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
)

// Objects of one resource look alike, so each Watch compresses with a dictionary
// made of a few of its own objects. With S2, a pod of 5 KB then takes some 770
// bytes and is decompressed in one or two microseconds; with Zstandard, 440 bytes
// and five microseconds. An S2 dictionary with its table takes some 60 KiB, a
// Zstandard encoder almost a megabyte, so a Watch creates them only when it has
// enough objects. Objects that were compressed before stay as they are.
const (
	lightAfter   = 16
	denseAfter   = 4096
	dictSize     = 24 << 10
	dictPerThing = 8 << 10
	// typicalStart is in the dictionary, so that each object starts with a long match.
	typicalStart = `{"apiVersion":"`
	// denseWindow is the window of Zstandard in bytes. Most objects are smaller.
	denseWindow = 128 << 10
)

// codec compresses and decompresses with one dictionary: with S2, or with Zstandard
// if s2 is nil. A nil codec is S2 without a dictionary. Only one goroutine at a time
// may encode. Any number of goroutines may decode.
type codec struct {
	s2      *s2.Dict
	encoder *zstd.Encoder
	decoder *zstd.Decoder
}

func (c *codec) dense() bool { return c != nil && c.s2 == nil }

// newLightCodec returns nil if there are too few samples for a dictionary.
func newLightCodec(samples []byte) *codec {
	dict := s2.MakeDict(samples, []byte(typicalStart))
	if dict == nil {
		return nil
	}
	return &codec{s2: dict}
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

// encode returns the compressed json. It may use the whole capacity of scratch.
func (c *codec) encode(scratch, json []byte) []byte {
	switch {
	case c == nil:
		return s2.Encode(scratch, json)
	case c.s2 != nil:
		return c.s2.Encode(scratch, json)
	}
	return c.encoder.EncodeAll(json, scratch[:0])
}

// decode decompresses packed into room, whose length is that of the JSON. It returns room unless
// packed is corrupt.
func (c *codec) decode(room, packed []byte) ([]byte, error) {
	switch {
	case c == nil:
		return s2.Decode(room, packed)
	case c.s2 != nil:
		return c.s2.Decode(room, packed)
	}
	return c.decoder.DecodeAll(packed, room[:0:len(room)])
}

// improveCodec creates a better codec when the Watch has reached lightAfter or
// denseAfter objects. The caller holds the Watch's lock.
func (w *Watch) improveCodec() {
	switch {
	case w.objects.used == lightAfter && w.codec == nil:
		w.codec = newLightCodec(w.objects.samples())
	case w.objects.used == denseAfter && !w.codec.dense():
		dense, err := newDenseCodec(w.objects.samples())
		if err != nil {
			// Only contradictory options can cause this error.
			w.log.Error(err, "objects are retained less densely than they could be")
			return
		}
		w.codec = dense
	}
}

// samples returns the beginnings of some objects, for a dictionary.
func (s *shelf) samples() []byte {
	var samples, one []byte
	for o := range s.all {
		var err error
		if one, err = o.decompress(one[:0]); err != nil {
			continue
		}
		samples = append(samples, one[:min(len(one), dictPerThing)]...)
		if len(samples) >= dictSize {
			break
		}
	}
	return samples
}

// rawBelow is the length in bytes below which JSON is not compressed.
const rawBelow = 128

// scratches has buffers for compression and decompression. An idle Watch holds none.
var scratches = sync.Pool{New: func() any { return new([]byte) }}

func getScratch() *[]byte {
	return scratches.Get().(*[]byte) //nolint:forcetypeassert // New makes nothing else
}

func putScratch(b *[]byte) {
	if cap(*b) <= 1<<20 {
		scratches.Put(b)
	}
}

// pack sets the data of o: a name and a UID, neither longer than maxName, and json, compressed.
func pack(o *Object, name, uid, json []byte, c *codec) {
	o.size = uint32(len(json))                          //nolint:gosec // an API server stores no objects of 4 GiB
	o.name, o.uid = uint16(len(name)), uint16(len(uid)) //nolint:gosec // see maxName
	o.codec, o.flags = nil, o.flags&^(plain|shortUID)
	blank, packs, whole := getScratch(), getScratch(), getScratch()
	defer putScratch(blank)
	defer putScratch(packs)
	defer putScratch(whole)
	if at := bytes.Index(json, uid); at >= 0 && at <= math.MaxUint16 {
		if short, ok := shorten(uid); ok {
			*blank = append((*blank)[:0], json...)
			copy((*blank)[at:], blankUID)
			json, uid = *blank, short[:]
			o.uid, o.flags = uint16(at), o.flags|shortUID
		}
	}
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

// A UID is 32 random digits, which do not compress. So packed JSON has blankUID in its place, which does, and the data of the
// object has the UID once, in shortUIDLen bytes.
const (
	blankUID    = "00000000-0000-0000-0000-000000000000"
	shortUIDLen = len(uuid.UUID{})
)

// shorten returns the bytes of a UID that has the form of blankUID, with letters in lower case.
func shorten(uid []byte) (short uuid.UUID, ok bool) {
	short, err := uuid.ParseBytes(uid)
	return short, err == nil && short.String() == string(uid)
}

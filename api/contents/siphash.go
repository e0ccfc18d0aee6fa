package contents

import "math/bits"

// hash returns HalfSipHash-2-4 of the tags. Each is 8 bytes in big-endian order, as SHA-256 makes them.
func (k Seed) hash(tags ...Tag) uint64 {
	// The rounds are a loop in one function, so that the state stays in registers: 2 after each word, 4
	// before the first half of the result, and 4 before the second.
	v0, v1, v2, v3 := k[0], k[1]^0xee, k[0]^0x6c796765, k[1]^0x74656462
	words := 2 * len(tags)
	var low uint32
	for i := range words + 3 {
		rounds := 2
		var word uint32
		switch {
		case i < words && i%2 == 0:
			word = bits.ReverseBytes32(uint32(tags[i/2] >> 32))
		case i < words:
			word = bits.ReverseBytes32(uint32(tags[i/2])) //nolint:gosec // the lower half
		case i == words:
			word = uint32(4*words) << 24 //nolint:gosec // the length, at most 24
		case i == words+1:
			v2 ^= 0xee
			rounds = 4
		default:
			low = v1 ^ v3
			v1 ^= 0xdd
			rounds = 4
		}
		v3 ^= word
		for range rounds {
			v0 += v1
			v1 = bits.RotateLeft32(v1, 5) ^ v0
			v0 = bits.RotateLeft32(v0, 16)
			v2 += v3
			v3 = bits.RotateLeft32(v3, 8) ^ v2
			v0 += v3
			v3 = bits.RotateLeft32(v3, 7) ^ v0
			v2 += v1
			v1 = bits.RotateLeft32(v1, 13) ^ v2
			v2 = bits.RotateLeft32(v2, 16)
		}
		v0 ^= word
	}
	return uint64(low) | uint64(v1^v3)<<32
}

// Package reason has the words and the codes with which a stream ends, or is
// refused: one table for the server, its clients and their documentation.
//
// The word says why, exactly enough for a program to act on; the code is the one
// of RFC 6455 (section 7.4.1) that a WebSocket is closed with, and says less. Each
// word has one code and one [Remedy].
//
// The package knows neither streams nor views, and imports nothing but the standard
// library, so that a client needs no other code of the operator's.
package reason

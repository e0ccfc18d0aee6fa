// Package reason defines the reasons and close codes with which a stream ends or is
// refused: one table for the server, its clients and their documentation.
//
// A reason is a word that a program can act on. The code is the less specific WebSocket
// close code of RFC 6455 (section 7.4.1). Each reason has one code and one [Remedy].
//
// The package imports only the standard library, so that a client needs no other code
// of the operator.
package reason

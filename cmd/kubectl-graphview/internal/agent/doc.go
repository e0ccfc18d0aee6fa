// Package agent answers the questions of programs that speak the Model Context
// Protocol: which graphs there are, what is wrong in them, what an object is part
// of, what it refers to, and what would notice if it went. It knows the protocol and
// the words of the plugin's commands, which it has carried out; it knows no graph and
// no server. No tool changes anything.
package agent

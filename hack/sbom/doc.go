// Sbom writes a bill of materials for each program that it is given, and a
// statement of how they were built. Neither is signed.
package main

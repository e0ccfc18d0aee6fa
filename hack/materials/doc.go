// Package materials says what programs are made of and how they were built, from
// what Go built into them: a bill of materials in CycloneDX's JSON, and a statement
// in the JSON of in-toto and SLSA. The same programs give the same documents.
package materials

// Sbom writes what programs are made of, from what Go built into them: for each a
// bill of materials in CycloneDX's JSON, and for all of them a statement of how they
// were built, in the JSON of in-toto and SLSA. Neither is signed. Both are the same
// bytes for the same programs.
package main

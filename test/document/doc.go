// Package document writes generated tables between two markers of a document. It knows neither
// the tables nor the document.
package document

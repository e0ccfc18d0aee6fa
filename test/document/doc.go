// Package document writes generated tables between two markers of a document. It knows neither
// what they say nor the document.
package document

// Package document writes measured tables between two markers of a document. It knows neither
// the measurements nor the document.
package document

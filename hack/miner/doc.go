// Miner measures the references that the product finds, with manifests that nobody in
// the project wrote. Each argument is a folder of manifests and
// CustomResourceDefinitions, in whatever folders below it, and is taken as one
// cluster:
//
//	go run ./hack/miner [-judgements FILE] [-fields missed,wrong,unjudged,claims] FOLDER…
//
// It holds what the product finds against what package mine tells, which knows nothing
// of the product, and prints recall and precision by the kinds that refer. What a person
// judged of fields is in a file of judgements, which counts more than either. Nothing
// is sent anywhere, and no cluster is needed.
package main

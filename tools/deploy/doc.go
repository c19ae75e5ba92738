// Package deploy judges deploy/ and the Dockerfile by the rules of those who
// read them: the Compose specification, the types and pod security standards of
// Kubernetes, and BuildKit's parser. It is a module of its own, so that neither
// larder nor its tools stand on those libraries.
//
// It starts no container; what larder does in one is tested in cmd/larder.
package deploy

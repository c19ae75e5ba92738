// Package deploy checks deploy/ and the Dockerfile with the rules of the programs that
// read them: the Compose specification, the types and pod security standards of
// Kubernetes, and BuildKit's parser. It is a separate module, so that neither larder nor
// its tools depend on those libraries.
//
// It starts no containers; cmd/larder tests larder in one.
package deploy

package lumi

// StubVersion1 marks a runtime that works with stubs of version 1. Every stub refers to the constant of its version, so
// that incompatible stubs and runtimes do not compile. If this constant is undefined, update the runtime if it is older
// than the stub; otherwise, run cidlc again.
const StubVersion1 = true

// StubVersion2 marks a runtime that works with stubs that use constraints, defaults, relations, former names, unions
// or deprecations.
const StubVersion2 = true

package lumi

// StubVersion1 is defined if this runtime supports stubs of version 1. Each stub refers to the constant of its version, so
// that incompatible stubs do not compile. If the constant is undefined, update the runtime if it is older than the stub;
// otherwise, generate the stub again with cidlc.
const StubVersion1 = true

// StubVersion3 is defined if this runtime supports stubs of version 3, which may use constraints, defaults, relations,
// former names, unions, deprecations, and functions.
const StubVersion3 = true

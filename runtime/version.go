package lumi

// StubVersion1 is there as long as the runtime works with stubs of version 1. Every stub names the constant of its own
// version, so that a stub and a runtime which do not fit each other do not compile: where this constant is missing,
// update the runtime if it is the older of the two, or else run cidlc again.
const StubVersion1 = true

// StubVersion2 is there for stubs with constraints, defaults, relations, former names, unions, or something deprecated.
const StubVersion2 = true

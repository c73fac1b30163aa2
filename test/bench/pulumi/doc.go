// Package pulumi measures the runtime on a resource of 15 properties beside three others: code that was written by hand
// for that resource alone, encoding/json, and what Pulumi's SDK offers for the same. It is a module of its own so that
// Lumi does not depend on Pulumi. What each of them checks, and what not, is said where they stand and in
// docs/performance.md.
package pulumi

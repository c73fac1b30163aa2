// Package pulumi compares the runtime on a resource of 15 properties with three alternatives: handwritten code,
// encoding/json, and Pulumi's SDK. It is a separate module so that Lumi does not depend on Pulumi. The alternatives and
// docs/performance.md document what each one checks.
package pulumi

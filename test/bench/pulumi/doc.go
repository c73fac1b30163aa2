// Package pulumi compares the runtime with handwritten code, encoding/json, and Pulumi's SDK, on a resource with 15
// properties. It is a separate module so that Lumi does not depend on Pulumi. The validation performed by each
// alternative is documented in its source and in docs/performance.md.
package pulumi

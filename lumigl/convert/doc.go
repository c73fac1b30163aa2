// Package convert converts exported Pulumi stacks and OpenTofu and Terraform state to LumiGL snapshots.
//
// No source maps to LumiGL completely, so the reader accounts for every key: it is either used or reported as a [Loss]
// with its position, outcome, and reason. Unknown keys are losses too; see [source]. The resulting snapshot always
// passes its own Check.
//
// Data specific to the other tool is kept under the tool's name, in a resource's extensions or in a top-level field.
// docs/convert.md documents the mapping.
package convert

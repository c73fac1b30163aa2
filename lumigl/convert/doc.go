// Package convert converts exported Pulumi stacks and OpenTofu and Terraform state to LumiGL snapshots.
//
// No source maps to LumiGL completely, so the reader accounts for every key: it is either used or reported as a [Loss]
// with its position, outcome and reason. Keys that the reader does not know are losses too; [source] keeps the account.
// Whatever the source, the snapshot passes its own Check.
//
// Data that only the other tool understands is kept under that tool's name, in the extensions of a resource or in a
// top-level field. docs/convert.md documents the mapping.
package convert

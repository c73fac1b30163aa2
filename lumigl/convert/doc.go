// Package convert makes LumiGL snapshots of what other tools keep: Pulumi's exported stacks, and the state of
// OpenTofu and Terraform.
//
// No source fits without remainder. So the reader keeps account: every key of a source is either used, or stands in a
// [Loss], which says where it is, what became of it and why. A key that nobody thought of is a loss like any other; that
// is what [source] is for. Whatever the source, the snapshot passes its own Check.
//
// What only the other tool understands is kept in the extensions of a resource, and in a top-level field, under that
// tool's name. docs/convert.md says what becomes of what.
package convert

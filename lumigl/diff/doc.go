// Package diff compares two LumiGL documents. The result is a structured [Delta] that lists the created, deleted,
// updated, and replaced resources with their changes, down to object members and list elements.
//
//	delta, err := diff.Compare(old, new, diff.Options{})
//	…
//	delta.WriteText(os.Stdout, diff.TextOptions{})
//
// A delta can be written as text or JSON.
//
// A value that becomes unknown is a separate kind of change. Secrets are compared but never printed.
//
// Comparisons take linear time and memory. If the smallest difference between two lists cannot be found within this
// bound, the result contains a larger one.
package diff

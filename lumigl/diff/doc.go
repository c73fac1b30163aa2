// Package diff compares two LumiGL documents. The result is a structured [Delta]: the created, deleted, updated and
// replaced resources, and for each the changes down to members of objects and elements of lists.
//
//	delta, err := diff.Compare(old, new, diff.Options{})
//	…
//	delta.WriteText(os.Stdout, diff.TextOptions{})
//
// A delta can be written as text and as JSON.
//
// A value that becomes unknown is a separate kind of change. Secrets are compared but never written.
//
// Comparisons take linear time and memory. If finding the smallest difference between two lists would take more, the
// result is a larger one.
package diff

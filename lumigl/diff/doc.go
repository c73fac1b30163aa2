// Package diff compares two LumiGL documents. The result is a structured [Delta]: the created, deleted, updated, and
// replaced resources, each with its changes down to object members and list elements.
//
//	delta, err := diff.Compare(old, new, diff.Options{})
//	…
//	delta.WriteText(os.Stdout, diff.TextOptions{})
//
// A delta can be written as text or JSON.
//
// A value that becomes unknown is a separate kind of change. Secrets are compared but never written.
//
// Comparisons take linear time and memory. If finding the smallest difference between two lists would take more, a
// larger difference is returned.
package diff

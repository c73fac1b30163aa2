// Package diff compares two LumiGL documents and says what differs, as a structured [Delta]: which resources were
// created, deleted, updated and replaced, and in each what was added, removed and changed, down to the members of
// objects and the elements of lists.
//
//	delta, err := diff.Compare(old, new, diff.Options{})
//	…
//	delta.WriteText(os.Stdout, diff.TextOptions{})
//
// A delta can be written as text for people and as JSON for programs.
//
// A value that becomes one which nobody knows yet is a change of its own kind. Secrets are compared and never written.
//
// Comparing takes time and memory in proportion to the documents. Where finding the smallest difference between two
// lists would take more, a larger one is found.
package diff

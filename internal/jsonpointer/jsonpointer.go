// Package jsonpointer builds JSON pointers (RFC 6901).
package jsonpointer

import "strings"

var escapes = strings.NewReplacer("~", "~0", "/", "~1")

// Escape escapes a key for use in a pointer, without a leading slash.
func Escape(key string) string { return escapes.Replace(key) }

// Within appends a key to a pointer.
func Within(at, key string) string { return at + "/" + Escape(key) }

// Package jsonpointer writes JSON pointers, as RFC 6901 has them.
package jsonpointer

import "strings"

var escapes = strings.NewReplacer("~", "~0", "/", "~1")

// Escape returns a key as it stands in a pointer, without the slash before it.
func Escape(key string) string { return escapes.Replace(key) }

// Within appends a key to a pointer.
func Within(at, key string) string { return at + "/" + Escape(key) }

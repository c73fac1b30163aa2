// Package jsonpointer builds JSON pointers (RFC 6901).
package jsonpointer

import "strings"

var escapes = strings.NewReplacer("~", "~0", "/", "~1")

// Escape escapes a key for use in a pointer. It does not add a slash.
func Escape(key string) string { return escapes.Replace(key) }

// Within returns the pointer to the value of key inside the object at at.
func Within(at, key string) string { return at + "/" + Escape(key) }

// Package modules shows references between folders.
//
// This file declares nothing.
package modules

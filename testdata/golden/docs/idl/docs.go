// Package docs carries comments over.
//
// A comment may hold */ and even /* the like.
package docs

import "github.com/lumi-idl/lumi/idl"

// Thing has docs of several lines,
//
//	with code in them
//
// and a list:
//   - one
//   - two
//
//go:generate echo this is a directive
type Thing struct {
	idl.NamedResource
	/* Block is documented in a block. */
	Block string
	Line  string // Line is documented at its end.
	None  string
	// Harm ends with */ and starts with @param and ${x} and \ a backslash.
	Harm string
}

// Lonely is below a comment that is not its own.
type Lonely struct {
	// go:build linux
	//
	//  - one, which gofmt leaves alone only here
	//
	//		and code
	A string
}

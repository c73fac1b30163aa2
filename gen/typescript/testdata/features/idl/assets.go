package features

import "github.com/lumi-idl/lumi/idl"

// Files needs the base package for its type alone.
type Files []*idl.Archive

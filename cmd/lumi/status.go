package main

import (
	"io"

	"github.com/lumi-idl/lumi/internal/status"
)

// clearing takes a line away before anything else is written to the terminal that it is on.
type clearing struct {
	*status.Line
	io.Writer
}

func (c clearing) Write(p []byte) (int, error) {
	c.Clear()
	return c.Writer.Write(p)
}

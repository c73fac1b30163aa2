package main

import (
	"fmt"

	"github.com/lumi-idl/lumi/internal/atomicfile"
)

// rewrite replaces the text of a file, unless the file has changed since it was read.
func (f *formatter) rewrite(in *input, name string, text []byte) error {
	writing.Lock()
	defer writing.Unlock()
	now, err := f.env.read(name)
	if err != nil {
		return err
	}
	if now.src != in.src {
		return fmt.Errorf("%s has changed in the meantime, and is left as it is: start again", name)
	}
	return atomicfile.Write(name, text)
}

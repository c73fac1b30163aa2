package main

import (
	"context"
	"fmt"
	"os"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/file"
)

// rewrite replaces the text of a file, if it is still what was read.
func (f *formatter) rewrite(ctx context.Context, in *input, name string, doc lumigl.Document, text []byte) error {
	writing.Lock()
	defer writing.Unlock()
	snapshot, _ := doc.(*lumigl.Snapshot)
	unlock, err := lock(ctx, name, snapshot != nil && snapshot.Lineage != "", "lumi fmt")
	if err != nil {
		return err
	}
	defer unlock()
	now, err := f.env.read(name)
	if err != nil {
		return err
	}
	if now.src != in.src {
		return fmt.Errorf("%s has changed in the meantime, and is left as it is: start again", name)
	}
	return file.WriteAtomic(name, text)
}

// lock keeps others from writing a file that deployments write: those have a lineage, or a lock beside them. Other files
// are for people only, and need no lock, which would leave a file in their folder.
func lock(ctx context.Context, name string, lineage bool, command string) (unlock func(), err error) {
	path, err := file.LockPath(name)
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(path); err != nil && !lineage {
		return func() {}, nil
	}
	locked, err := file.Open(ctx, name, file.Options{Command: command})
	if err != nil {
		return nil, err
	}
	return func() { _ = locked.Close() }, nil // The process is about to end, which unlocks it too.
}

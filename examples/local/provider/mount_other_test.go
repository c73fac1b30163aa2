//go:build !linux

package local_test

import "testing"

func mountSmall(t *testing.T, _ string) (readOnly func(bool)) {
	t.Helper()
	t.Skip("mounting a file system requires Linux")
	return nil
}

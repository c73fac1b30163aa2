//go:build !linux

package serve

func wakeWithoutParent() {}

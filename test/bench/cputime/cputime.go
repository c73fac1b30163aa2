//go:build unix

// Package cputime measures CPU time, which is less sensitive than wall time to load from other processes.
package cputime

import (
	"slices"
	"syscall"
	"testing"
	"time"
)

// Now returns the CPU time consumed so far by this process and its terminated children.
func Now(b *testing.B) time.Duration {
	b.Helper()
	var total time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var usage syscall.Rusage
		if err := syscall.Getrusage(who, &usage); err != nil {
			b.Fatal(err)
		}
		total += time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	return total
}

// Median returns the median of values, which must not be empty. It sorts values in place.
func Median(values []float64) float64 {
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

//go:build unix

// Package cputime measures CPU time, which depends less on other processes than wall time.
package cputime

import (
	"slices"
	"syscall"
	"testing"
	"time"
)

// Now returns the CPU time of this process and of its exited children.
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

// Median sorts the values and returns their median.
func Median(values []float64) float64 {
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

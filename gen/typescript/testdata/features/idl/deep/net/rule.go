// Package net has the name of another module's package.
package net

// Rule has the name of that module's struct.
type Rule struct {
	Depth float64
}

// Package ip stands in a folder whose parent holds no Go.
package ip

// Address is an address.
type Address struct {
	Octets []float64
}

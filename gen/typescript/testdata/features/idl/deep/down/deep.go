// Package down stands in a folder in a folder that holds no IDL.
package down

// Deep is a struct.
type Deep struct {
	Depth float64
}

package main

import (
	"slices"

	near "github.com/lumi-idl/lumi/internal/nearest"
)

// nearest returns the name that somebody who wrote got most probably meant, or "" if none is near. Two slips are near,
// and in long names one for every three letters.
func nearest(got string, names []string) string {
	return near.To(got, max(2, len(got)/3), slices.Values(names))
}

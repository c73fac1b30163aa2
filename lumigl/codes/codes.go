// Package codes has the catalog of LumiGL's codes: those of the faults that a file may have, and those of what a
// conversion loses. Each is a Markdown file, which 'lumi explain' prints and the pages in docs link.
package codes

import (
	"embed"

	"github.com/lumi-idl/lumi/internal/catalog"
)

//go:embed faults losses
var files embed.FS

// Faults returns the entries of the codes that package lumigl declares, in that order.
func Faults() catalog.Catalog { return catalog.New("fault", files, "faults") }

// Losses returns the entries of the codes that package convert declares, in that order.
func Losses() catalog.Catalog { return catalog.New("loss", files, "losses") }

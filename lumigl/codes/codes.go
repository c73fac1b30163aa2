// Package codes contains the catalog of LumiGL's codes: errors in files and losses in conversions. Each entry is a
// Markdown file, printed by 'lumi explain' and linked from docs/.
package codes

import (
	"embed"

	"github.com/lumi-idl/lumi/internal/catalog"
)

//go:embed faults losses
var files embed.FS

// Faults returns the catalog entries of package lumigl's codes, in declaration order.
func Faults() catalog.Catalog { return catalog.New("fault", files, "faults") }

// Losses returns the catalog entries of package convert's codes, in declaration order.
func Losses() catalog.Catalog { return catalog.New("loss", files, "losses") }

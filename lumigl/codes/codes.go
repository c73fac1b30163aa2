// Package codes has the catalogue of LumiGL's codes: those of the faults that a file may have, and those of what
// [convert.Convert] loses. Each is a Markdown file, which 'lumi explain' prints and the pages in docs link.
package codes

import (
	"embed"

	"github.com/lumi-idl/lumi/internal/catalog"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/convert"
)

//go:embed faults/*.md losses/*.md
var files embed.FS

// Faults returns the entries of all faults, in the order in which package lumigl declares them.
func Faults() catalog.Catalog {
	return catalog.New("fault", files, "faults",
		catalog.NewGroup("The rules of JSON",
			lumigl.UTF8Fault, lumigl.ByteOrderFault, lumigl.CommentFault, lumigl.SpaceFault, lumigl.ElisionFault,
			lumigl.TrailingCommaFault, lumigl.MissingCommaFault, lumigl.ExtraCommaFault, lumigl.MissingColonFault,
			lumigl.KeyFault, lumigl.StringFault, lumigl.EscapeFault, lumigl.NumberFault, lumigl.LiteralFault,
			lumigl.BracketFault, lumigl.UnexpectedFault, lumigl.AfterEndFault, lumigl.EmptyFault, lumigl.ConflictFault,
			lumigl.DuplicateKeyFault, lumigl.DepthFault, lumigl.SizeFault,
		),
		catalog.NewGroup("The rules of LumiGL",
			lumigl.FormFault, lumigl.ShapeFault, lumigl.TagFault, lumigl.ReferenceFault, lumigl.DanglingFault,
			lumigl.URNFault, lumigl.TypeFault, lumigl.OrderFault, lumigl.CycleFault,
		),
	)
}

// Losses returns the entries of all losses, in the order in which package convert declares them.
func Losses() catalog.Catalog {
	return catalog.New("loss", files, "losses",
		catalog.NewGroup("What 'lumi convert' names as lost",
			convert.UnknownLoss, convert.ShapeLoss, convert.EmptyLoss, convert.CiphertextLoss, convert.AssetHashLoss,
			convert.ContentLoss, convert.PackageVersionLoss, convert.ReferenceIDLoss, convert.OperationLoss,
			convert.EncryptionLoss,
		),
		catalog.NewGroup("What 'lumi convert' names as changed",
			convert.SyntaxLoss, convert.TypeLoss, convert.NameLoss, convert.PackageLoss, convert.EnvironmentLoss,
			convert.CircleLoss, convert.DanglingLoss, convert.DependencyLoss, convert.InputLoss, convert.UnmanagedLoss,
			convert.InertLoss, convert.UnknownValueLoss, convert.NumberLoss, convert.OutputLoss, convert.SignatureLoss,
			convert.MistakenLoss, convert.FlatLoss, convert.SensitiveLoss, convert.GuessedLoss, convert.BytesLoss,
		),
	)
}

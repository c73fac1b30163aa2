package diag

import (
	"embed"

	"github.com/lumi-idl/lumi/internal/catalog"
)

// files holds one Markdown file a code: what the rule is, why it is so, and examples that break it and keep it. The
// tests of package compile hold that every example does what it is said to do.
//
//go:embed catalog/*.md
var files embed.FS

// Catalog returns the entries of all codes in the order in which they are declared. The headings of an entry are
// "## Wrong" and "## Right".
func Catalog() catalog.Catalog {
	return catalog.New("diagnostic", files, "catalog",
		catalog.NewGroup("What keeps sources from being read",
			GoSyntax, GoType, GoPackage, BuildConstraint, FileName, FolderName, PackageName, CgoImport, DotImport,
		),
		catalog.NewGroup("What may be declared",
			FunctionDecl, MethodDecl, VariableDecl, AliasDecl, GenericDecl, DefinedType, BlankName, ReservedName,
			NameCollision,
		),
		catalog.NewGroup("What types there are",
			NumericType, ArrayType, InterfaceType, FuncType, ChanType, AnonymousStruct, UnsupportedType, ForeignType,
			MapKey, PointerToPointer, PointerType, ResourceByValue, AssetByValue, MarkerType, ConfigType, MixinType,
			UnexportedType, RecursiveAlias,
		),
		catalog.NewGroup("What a struct may hold",
			UnexportedField, EmbeddedPointer, EmbeddedType, EmbeddedTag, MultipleMarkers, MultipleConfigs, ConfigPlace,
			DuplicateProperty, ReservedProperty, ReservedField,
		),
		catalog.NewGroup("What a lumi tag may say",
			MalformedTag, UnknownOption, RepeatedOption, ConflictingOptions, OptionPlace, InvalidName,
			OptionalWithoutPointer, PointerWithoutOptional,
		),
		catalog.NewGroup("What a constant may be",
			ConstType, ConstValue, DuplicateValue,
		),
	)
}

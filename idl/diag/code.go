package diag

import (
	"embed"

	"github.com/lumi-idl/lumi/internal/catalog"
)

// Code identifies the rule violated by a diagnostic. Codes are stable: a released code never changes its meaning. Each
// code has an entry in the [Catalog] and is listed in docs/diagnostics.md.
type Code string

// Source files and packages.
const (
	GoSyntax        Code = "GoSyntax"
	GoType          Code = "GoType"
	GoPackage       Code = "GoPackage"
	BuildConstraint Code = "BuildConstraint"
	FileName        Code = "FileName"
	FolderName      Code = "FolderName"
	PackageName     Code = "PackageName"
	PackageIdentity Code = "PackageIdentity"
	CgoImport       Code = "CgoImport"
	DotImport       Code = "DotImport"
)

// Declarations.
const (
	FunctionDecl  Code = "FunctionDecl"
	MethodDecl    Code = "MethodDecl"
	VariableDecl  Code = "VariableDecl"
	AliasDecl     Code = "AliasDecl"
	GenericDecl   Code = "GenericDecl"
	DefinedType   Code = "DefinedType"
	BlankName     Code = "BlankName"
	ReservedName  Code = "ReservedName"
	NameCollision Code = "NameCollision"
)

// Types.
const (
	NumericType      Code = "NumericType"
	ArrayType        Code = "ArrayType"
	InterfaceType    Code = "InterfaceType"
	FuncType         Code = "FuncType"
	ChanType         Code = "ChanType"
	AnonymousStruct  Code = "AnonymousStruct"
	UnsupportedType  Code = "UnsupportedType"
	ForeignType      Code = "ForeignType"
	MapKey           Code = "MapKey"
	PointerToPointer Code = "PointerToPointer"
	PointerType      Code = "PointerType"
	ResourceByValue  Code = "ResourceByValue"
	AssetByValue     Code = "AssetByValue"
	MarkerType       Code = "MarkerType"
	ConfigType       Code = "ConfigType"
	ConfigReference  Code = "ConfigReference"
	FunctionType     Code = "FunctionType"
	MixinType        Code = "MixinType"
	UnexportedType   Code = "UnexportedType"
	RecursiveAlias   Code = "RecursiveAlias"
)

// Structs.
const (
	UnexportedField   Code = "UnexportedField"
	EmbeddedPointer   Code = "EmbeddedPointer"
	EmbeddedType      Code = "EmbeddedType"
	EmbeddedTag       Code = "EmbeddedTag"
	NameOption        Code = "NameOption"
	MultipleMarkers   Code = "MultipleMarkers"
	MultipleConfigs   Code = "MultipleConfigs"
	ConfigPlace       Code = "ConfigPlace"
	FunctionResult    Code = "FunctionResult"
	DuplicateProperty Code = "DuplicateProperty"
	ReservedProperty  Code = "ReservedProperty"
	ReservedField     Code = "ReservedField"
	UnionVariant      Code = "UnionVariant"
)

// Tag options.
const (
	MalformedTag            Code = "MalformedTag"
	UnknownOption           Code = "UnknownOption"
	RepeatedOption          Code = "RepeatedOption"
	ConflictingOptions      Code = "ConflictingOptions"
	OptionPlace             Code = "OptionPlace"
	DeprecatedText          Code = "DeprecatedText"
	DefaultValue            Code = "DefaultValue"
	Relation                Code = "Relation"
	FormerName              Code = "FormerName"
	InvalidName             Code = "InvalidName"
	OptionalWithoutPointer  Code = "OptionalWithoutPointer"
	PointerWithoutOptional  Code = "PointerWithoutOptional"
	ComputedWithoutOptional Code = "ComputedWithoutOptional"
	FixedWithoutOut         Code = "FixedWithoutOut"
)

// Constraints and directives.
const (
	ConstraintType     Code = "ConstraintType"
	ConstraintValue    Code = "ConstraintValue"
	InvalidPattern     Code = "InvalidPattern"
	ConstraintConflict Code = "ConstraintConflict"
	MisplacedDirective Code = "MisplacedDirective"
	RuleSyntax         Code = "RuleSyntax"
	RuleName           Code = "RuleName"
	RuleType           Code = "RuleType"
	RuleConstant       Code = "RuleConstant"
)

// Constants.
const (
	ConstType      Code = "ConstType"
	ConstValue     Code = "ConstValue"
	DuplicateValue Code = "DuplicateValue"
)

// files contains one Markdown file per code. Each states the rule and the reason for it, followed by invalid and valid
// examples. The tests of package compile check the examples.
//
//go:embed catalog
var files embed.FS

// Catalog returns the documentation of all codes in declaration order. Each entry has a section "## Wrong" and a section
// "## Right".
func Catalog() catalog.Catalog { return catalog.New("diagnostic", files, "catalog") }

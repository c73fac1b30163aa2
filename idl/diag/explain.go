package diag

import (
	"embed"
	"strings"
)

//go:generate go run github.com/lumi-idl/lumi/internal/gendocs ../../docs/diagnostics.md

// catalog holds one Markdown file a code: what the rule is, why it is so, and examples that break it and keep it. The
// tests of package compile hold that every example does what it is said to do.
//
//go:embed catalog/*.md
var catalog embed.FS

// Group is a part of the catalogue: codes that are about one thing.
type Group struct {
	// Title says what the codes are about, as a sentence without a full stop.
	Title string
	Codes []Code
}

// Groups returns all codes in the order in which they are declared and documented.
func Groups() []Group {
	return []Group{
		{"What keeps sources from being read", []Code{
			GoSyntax, GoType, GoPackage, BuildConstraint, FileName, FolderName, PackageName, CgoImport, DotImport,
		}},
		{"What may be declared", []Code{
			FunctionDecl, MethodDecl, VariableDecl, AliasDecl, GenericDecl, DefinedType, BlankName, ReservedName,
			NameCollision,
		}},
		{"What types there are", []Code{
			NumericType, ArrayType, InterfaceType, FuncType, ChanType, AnonymousStruct, UnsupportedType, ForeignType,
			MapKey, PointerToPointer, PointerType, ResourceByValue, AssetByValue, MarkerType, ConfigType, MixinType,
			UnexportedType, RecursiveAlias,
		}},
		{"What a struct may hold", []Code{
			UnexportedField, EmbeddedPointer, EmbeddedType, EmbeddedTag, MultipleMarkers, MultipleConfigs, ConfigPlace,
			DuplicateProperty, ReservedProperty, ReservedField,
		}},
		{"What a lumi tag may say", []Code{
			MalformedTag, UnknownOption, RepeatedOption, ConflictingOptions, OptionPlace, InvalidName,
			OptionalWithoutPointer, PointerWithoutOptional,
		}},
		{"What a constant may be", []Code{
			ConstType, ConstValue, DuplicateValue,
		}},
	}
}

// Codes returns all codes in the order in which they are declared and documented.
func Codes() []Code {
	var codes []Code
	for _, g := range Groups() {
		codes = append(codes, g.Codes...)
	}
	return codes
}

// Entry returns the entry of the catalogue for a code, in Markdown. Its headings are "# Code", "## Wrong" and
// "## Right". It is empty for a code that is none of [Codes].
func Entry(code Code) string {
	text, err := catalog.ReadFile("catalog/" + string(code) + ".md")
	if err != nil {
		return ""
	}
	return string(text)
}

// Explain returns what a terminal shows of the entry for a code: its Markdown with the code indented instead of fenced.
// Letter case does not matter. It reports false for a code that does not exist.
func Explain(code string) (string, bool) {
	for _, known := range Codes() {
		if strings.EqualFold(code, string(known)) {
			return unfence(Entry(known)), true
		}
	}
	return "", false
}

// unfence indents what stands between fences, and puts the name of the file above it where the fence gives one.
func unfence(markdown string) string {
	var b strings.Builder
	inside := false
	for line := range strings.Lines(markdown) {
		info, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && !inside:
			inside = true
			if _, file, named := strings.Cut(strings.TrimSpace(info), " "); named {
				b.WriteString(file + ":\n\n")
			}
		case fence:
			inside = false
		case inside && strings.TrimSpace(line) != "":
			b.WriteString("    " + line)
		default:
			b.WriteString(line)
		}
	}
	return b.String()
}

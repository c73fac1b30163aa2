package providertest

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/internal/linediff"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/internal/readable"
	"github.com/lumi-idl/lumi/runtime/internal/signed"
)

// maxShown limits the length of a value on one line of a report.
const maxShown = 300

// show formats a value on one line, "nothing" for none.
func show(v *structpb.Value) string {
	if signed.IsNull(v) {
		return "nothing"
	}
	return shorten(readable.JSON(v, ""))
}

// lines formats a bag on several lines.
func lines(bag *structpb.Struct) string {
	return readable.JSON(structpb.NewStructValue(bag), "  ") + "\n"
}

func shorten(s string) string { return readable.Shorten(s, maxShown) }

func indent(s string) string {
	return "\t" + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n\t")
}

// compare lists the differences between a bag and the expected one, one path per line.
func compare(
	expected, found *structpb.Struct, excused func(lumi.Change) bool,
) (told []string, paths []lumi.Path) {
	for _, c := range lumi.Compare(lumi.BagOf(expected), lumi.BagOf(found)).Changes() {
		if excused != nil && excused(c) {
			continue
		}
		told = append(told, string(c.Path)+": "+describe(c))
		paths = append(paths, c.Path)
	}
	return told, paths
}

func describe(c lumi.Change) string {
	old, found := show(c.Old), show(c.New)
	if c.Secret {
		old, found = "a secret", "another value"
	}
	switch c.Kind {
	case lumi.Added:
		if c.Secret {
			found = "a secret"
		}
		return "expected nothing, found " + found
	case lumi.Removed:
		return "expected " + old + ", found nothing"
	}
	return "expected " + old + ", found " + found
}

// inFull drops properties that differ but contain none of the paths, since their differences are excused.
func inFull(paths []lumi.Path, expected, found *structpb.Struct) (*structpb.Struct, *structpb.Struct) {
	expected, found = clone(expected), clone(found)
	changed := lumi.Compare(lumi.BagOf(expected), lumi.BagOf(found))
	for name := range merge(expected, found).GetFields() {
		property := lumi.Path("").Key(name)
		if changed.Changed(property) && !slices.ContainsFunc(paths, property.Holds) {
			delete(expected.GetFields(), name)
			delete(found.GetFields(), name)
		}
	}
	return expected, found
}

// unified returns a diff of two bags, with secrets masked.
func unified(expected, found *structpb.Struct) string {
	var told []string
	linediff.Unified("expected", lines(expected), "found", lines(found), func(sign, line string) {
		told = append(told, shorten(sign+line))
	})
	return strings.Join(told[min(1, len(told)):], "\n") // without the line of the command
}

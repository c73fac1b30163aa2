package providertest

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/internal/linediff"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/internal/readable"
)

// maxShown is the maximum length of a value in a report, in bytes.
const maxShown = 300

// show formats a value on one line, or returns "nothing" if it is null.
func show(v *structpb.Value) string {
	if isNull(v) {
		return "nothing"
	}
	return shorten(readableJSON(v, ""))
}

// lines formats a bag as indented JSON.
func lines(bag *structpb.Struct) string {
	return readableJSON(structpb.NewStructValue(bag), "  ") + "\n"
}

func shorten(s string) string { return readable.Shorten(s, maxShown) }

func indent(s string) string {
	return "\t" + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n\t")
}

// compare returns descriptions of the differences between two bags, and their paths. It omits differences for which excused
// returns true.
func compare(
	properties []lumi.Property, expected, found *structpb.Struct, excused func(lumi.Change) bool,
) (told []string, paths []lumi.Path) {
	for _, c := range lumi.CompareAs(properties, lumi.BagOf(expected), lumi.BagOf(found)).Changes() {
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

// inFull returns copies of both bags without the properties that differ only at excused paths. paths lists the paths of
// the other differences.
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

// unified returns a unified diff of two bags, with secrets masked.
func unified(expected, found *structpb.Struct) string {
	var told []string
	linediff.Unified("expected", lines(expected), "found", lines(found), func(sign, line string) {
		told = append(told, shorten(sign+line))
	})
	return strings.Join(told[min(1, len(told)):], "\n") // Omit the header.
}

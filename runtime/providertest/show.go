package providertest

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/internal/linediff"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// maxShown is how much of a value a report shows in one line.
const maxShown = 300

// readable makes of a value what json prints for people.
func readable(v *structpb.Value) any {
	switch {
	case isUnknown(reveal(v)):
		return "(not known yet)"
	case isSecret(v):
		return wire.Masked
	}
	switch k := v.GetKind().(type) {
	case *structpb.Value_ListValue:
		list := make([]any, len(k.ListValue.GetValues()))
		for i, elem := range k.ListValue.GetValues() {
			list[i] = readable(elem)
		}
		return list
	case *structpb.Value_StructValue:
		fields := map[string]any{}
		for key, field := range k.StructValue.GetFields() {
			if key != wire.Signature {
				fields[key] = readable(field)
			}
		}
		return fields
	}
	return v.AsInterface()
}

// show prints a value in one line, "nothing" where there is none.
func show(v *structpb.Value) string {
	if isAbsent(v) {
		return "nothing"
	}
	return shorten(toJSON(readable(v), ""))
}

// lines prints a bag in many.
func lines(bag *structpb.Struct) string {
	return toJSON(readable(structpb.NewStructValue(bag)), "  ") + "\n"
}

func toJSON(v any, indentation string) string {
	var text bytes.Buffer
	out := json.NewEncoder(&text)
	out.SetEscapeHTML(false)
	out.SetIndent("", indentation)
	if err := out.Encode(v); err != nil {
		return "(" + err.Error() + ")" // of a number that is not finite, which another's plugin may send
	}
	return strings.TrimSuffix(text.String(), "\n")
}

func shorten(s string) string {
	if len(s) <= maxShown {
		return s
	}
	cut := maxShown
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

func indent(s string) string {
	return "\t" + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n\t")
}

// compare lists how a bag differs from the one that was expected, one path a line.
func compare(
	expected, found *structpb.Struct, excused func(lumi.Change) bool,
) (told []string, paths []lumi.Path) {
	for _, c := range lumi.Compare(expected, found).Changes() {
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

// unified shows two bags as a diff, from which secrets are left out.
func unified(expected, found *structpb.Struct) string {
	var told []string
	linediff.Unified("expected", lines(expected), "found", lines(found), func(sign, line string) {
		told = append(told, shorten(sign+line))
	})
	return strings.Join(told[min(1, len(told)):], "\n") // without the line that names the command
}

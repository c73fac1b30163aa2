package convert_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/convert"
)

// TestZeroIsNotAbsent sets each scalar in the files to its zero value, one at a time. The result must differ from that
// for null, unless the source format treats both alike.
func TestZeroIsNotAbsent(t *testing.T) {
	same := regexp.MustCompile(strings.Join([]string{
		// OpenTofu omits these.
		`^/(serial|lineage)$`, `^/resources/\d+/(mode|module|each|provider)$`, `^/resources/\d+/instances/\d+/(deposed|provider)$`,
		`^/outputs/[^/]+/sensitive$`, `/sensitive_attributes/`, `/(dependencies|depends_on)/`,
		// Pulumi omits these.
		`/(delete|custom|id|type)$`, `/(dependencies|propertyDependencies/[^/]+|aliases|additionalSecretOutputs)/\d+$`,
		// For these options, zero means the default.
		`/(protect|retainOnDelete|skip_destroy)$`, `/customTimeouts/[a-z]+$`,
		`/inputs/.*/(hash|packageVersion|text|secret)$`,
		// The reference tag cannot be empty.
		`^/ref$`,
	}, "|"))
	null := func(lumigl.Value) (lumigl.Value, bool) { return lumigl.NullValue(), true }
	for _, file := range examples(t) {
		for i := range values(file.root) {
			at, where := -1, ""
			with, ok := changed(file.root, zero, "", i, &at, &where)
			if !ok || same.MatchString(where) {
				continue
			}
			at = -1
			without, _ := changed(file.root, null, "", i, &at, &where)
			a, aErr := convert.Convert(text(with), convert.Options{})
			b, bErr := convert.Convert(text(without), convert.Options{})
			if aErr != nil || bErr != nil {
				continue
			}
			aText, aLosses := render(a, nil)
			bText, bLosses := render(b, nil)
			isLost := slices.ContainsFunc(a.Losses, func(l convert.Loss) bool { return within(where, l.Pointer()) })
			if aText == bText && aLosses == bLosses && !isLost {
				t.Errorf("Convert(%s): zero at %s has the same result as null", file.name, where)
			}
		}
	}
}

// zero returns the zero value of the same kind as v. It returns false if v is not a scalar.
func zero(v lumigl.Value) (lumigl.Value, bool) {
	switch v.Kind() {
	case lumigl.Text:
		return lumigl.TextOf(""), true
	case lumigl.Number:
		return lumigl.IntOf(0), true
	case lumigl.Bool:
		return lumigl.BoolOf(false), true
	}
	return v, false
}

package pulumitest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// report reports violations in the answer of a call.
func (r *run) report(name string, found []string) {
	r.t.Helper()
	for _, problem := range found {
		r.errorf("%s: %s", name, problem)
	}
}

// checkRules checks the inputs that Check made of a program's.
func checkRules(properties []*schema.Property, news, inputs *structpb.Struct) []string {
	found := secretRules("", properties, inputs)
	for _, p := range properties {
		asked, got := news.GetFields()[p.Name], inputs.GetFields()[p.Name]
		switch {
		case p.Out && got != nil:
			found = append(found, p.Name+": an output is among the inputs")
		case asked != nil && got == nil:
			found = append(found, p.Name+": the program's value is lost")
		}
	}
	return found
}

// previewRules checks planned outputs: outputs are unknown or keep a value that an update does not change, and inputs are kept.
func previewRules(properties []*schema.Property, inputs, old, planned *structpb.Struct) []string {
	found := secretRules("", properties, planned)
	for _, p := range properties {
		asked, was, got := inputs.GetFields()[p.Name], old.GetFields()[p.Name], planned.GetFields()[p.Name]
		switch {
		case p.Out && p.Fixed && was != nil && !equal(was, got):
			found = append(found, p.Name+": a fixed output is not planned as before")
		case p.Out && (!p.Fixed || was == nil) && !unknown(got):
			found = append(found, p.Name+": an output is not planned as unknown")
		case asked != nil && got == nil:
			found = append(found, p.Name+": an input is not planned")
		}
	}
	return found
}

// stateRules checks outputs that the engine stores. They must be what a preview planned, if there was one.
func stateRules(properties []*schema.Property, planned, outputs *structpb.Struct) []string {
	found := secretRules("", properties, outputs)
	for _, name := range slices.Sorted(maps.Keys(outputs.GetFields())) {
		if unknown(outputs.GetFields()[name]) {
			found = append(found, name+": is unknown in the state")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(planned.GetFields())) {
		if want := planned.GetFields()[name]; !unknown(want) && !equal(want, outputs.GetFields()[name]) {
			found = append(found, name+": differs from the preview")
		}
	}
	return found
}

// secretRules checks that the values of secret properties are secrets. Unknown values of inputs hide nothing.
func secretRules(at string, properties []*schema.Property, s *structpb.Struct) []string {
	var found []string
	for _, p := range properties {
		v := s.GetFields()[p.Name]
		switch _, isNull := v.GetKind().(*structpb.Value_NullValue); {
		case v == nil || isNull || v.GetStructValue().GetFields()[wire.Signature].GetStringValue() == wire.Secret:
		case p.Secret && (p.Out || v.GetStringValue() != wire.Unknown):
			found = append(found, at+p.Name+": a secret is not marked")
		default:
			found = append(found, partRules(at+p.Name, p.Type, v)...)
		}
	}
	return found
}

// partRules checks the secrets in the parts of a value.
func partRules(at string, t schema.Type, v *structpb.Value) (found []string) {
	switch t := schema.Underlying(t).(type) {
	case *schema.Ref:
		return secretRules(at+".", schema.Properties(t.Decl), v.GetStructValue())
	case *schema.List:
		for n, elem := range v.GetListValue().GetValues() {
			found = append(found, partRules(fmt.Sprintf("%s[%d]", at, n), t.Elem, elem)...)
		}
	case *schema.Map:
		for _, key := range slices.Sorted(maps.Keys(v.GetStructValue().GetFields())) {
			found = append(found, partRules(at+"."+key, t.Elem, v.GetStructValue().GetFields()[key])...)
		}
	}
	return found
}

// diffRules checks that the parts of a diff agree.
func diffRules(d *pulumirpc.DiffResponse) []string {
	var found, replaces []string
	roots := map[string]bool{}
	for _, path := range slices.Sorted(maps.Keys(d.GetDetailedDiff())) {
		root, _, _ := strings.Cut(strings.ReplaceAll(path, "[", "."), ".")
		roots[root] = true
		if strings.HasSuffix(d.GetDetailedDiff()[path].GetKind().String(), "_REPLACE") {
			replaces = append(replaces, root)
		}
	}
	if isSome := d.GetChanges() == pulumirpc.DiffResponse_DIFF_SOME; isSome != (len(roots) > 0) {
		found = append(found, fmt.Sprintf("%s with %d detailed changes", d.GetChanges(), len(roots)))
	}
	if all := slices.Sorted(maps.Keys(roots)); !slices.Equal(all, slices.Compact(slices.Sorted(slices.Values(d.GetDiffs())))) {
		found = append(found, fmt.Sprintf("the detailed changes are of %q, but the changes of %q", all, d.GetDiffs()))
	}
	for _, root := range replaces {
		if !slices.Contains(d.GetReplaces(), root) {
			found = append(found, root+": replaces only in the detailed diff")
		}
	}
	return found
}

// unknown reports whether a value has unknown parts.
func unknown(v *structpb.Value) bool { return strings.Contains(v.String(), wire.Unknown) }

// revealed returns the value in a secret.
func revealed(v *structpb.Value) *structpb.Value {
	if fields := v.GetStructValue().GetFields(); fields[wire.Signature].GetStringValue() == wire.Secret {
		return fields["value"]
	}
	return v
}

// equal compares values, for which null is the same as none.
func equal(a, b *structpb.Value) bool {
	none := func(v *structpb.Value) bool {
		_, isNull := v.GetKind().(*structpb.Value_NullValue)
		return v == nil || isNull
	}
	return none(a) && none(b) || proto.Equal(a, b)
}

// covers reports whether all members of a value are in another one.
func covers(want, got *structpb.Value) bool {
	if want.GetStructValue() == nil {
		return equal(want, got)
	}
	for name, v := range want.GetStructValue().GetFields() {
		if !covers(revealed(v), revealed(got.GetStructValue().GetFields()[name])) {
			return false
		}
	}
	return true
}

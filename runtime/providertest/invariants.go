package providertest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// This file checks the invariants of every provider.

// kept checks that Check preserves the program's values. Check may set absent values and add fields to assets and archives.
func (s *step) kept(asked, checked *structpb.Struct) {
	s.t.Helper()
	s.differs("Check changes values set by the program", asked, checked, func(c lumi.Change) bool {
		return c.Kind == lumi.Added || s.excused(c) && c.Kind == lumi.Modified && !isContent(c.Old) || isAdded(c.Old, c.New) ||
			isUnknown(c.Old)
	})
}

// isAdded reports whether both values are assets or archives and after contains all fields of before.
func isAdded(before, after *structpb.Value) bool {
	return isContent(before) && isContent(after) && covers(before.GetStructValue(), after.GetStructValue())
}

func covers(before, after *structpb.Struct) bool {
	for key, v := range before.GetFields() {
		other := after.GetFields()[key]
		both := v.GetStructValue() != nil && other.GetStructValue() != nil
		if both && !covers(v.GetStructValue(), other.GetStructValue()) || !both && !proto.Equal(v, other) {
			return false
		}
	}
	return true
}

// stillUnknown checks that values unknown in asked are unknown in checked.
func (s *step) stillUnknown(asked, checked *structpb.Struct) {
	s.t.Helper()
	var known []lumi.Path
	parts("", structpb.NewStructValue(asked), func(p lumi.Path, v *structpb.Value) bool {
		if isUnknown(v) && !isUnknown(reveal(at(checked, p))) {
			known = append(known, p)
		}
		return true
	})
	slices.Sort(known)
	for _, p := range known {
		s.errorf("Check sets %s, which is not known yet, to %s", p,
			show(at(s.r.wrapped(checked), p)))
	}
}

// reportsUnknown checks that InspectChange reports changes at the given paths of unknown values.
func (s *step) reportsUnknown(unknown []lumi.Path, resp *lumi.InspectChangeResponse) {
	s.t.Helper()
	for _, path := range unknown {
		if !slices.ContainsFunc(resp.Changes, func(c lumi.Change) bool {
			about := c.Path.Holds(path) || path.Holds(c.Path)
			return about && (c.Unknown || c.Secret || slices.Contains(slices.Collect(texts(c.New)), wire.Unknown))
		}) {
			s.errorf("InspectChange does not report %s, whose new value is not known yet: it reports %s", path,
				summary(resp))
		}
	}
}

// answer checks that returned properties have no unknown values and that secrets are wrapped. It returns a copy of the bag
// without properties that contain unknown values, to avoid follow-on failures.
func (s *step) answer(call string, bag *structpb.Struct) *structpb.Struct {
	s.t.Helper()
	s.wrapsSecrets(call, bag)
	known := clone(bag)
	for _, name := range slices.Sorted(maps.Keys(bag.GetFields())) {
		if slices.Contains(slices.Collect(texts(bag.Fields[name])), wire.Unknown) {
			s.errorf("%s returns %s as unknown", call, name)
			delete(known.Fields, name)
		}
	}
	return known
}

// wrapsSecrets checks that values declared secret are wrapped in bag.
func (s *step) wrapsSecrets(call string, bag *structpb.Struct) {
	s.t.Helper()
	var bare []lumi.Path
	parts("", structpb.NewStructValue(bag), func(p lumi.Path, v *structpb.Value) bool {
		if isSecret(v) {
			return false
		}
		if p != "" && s.r.isHidden(p) && !isNull(v) && !isUnknown(v) {
			bare = append(bare, p)
		}
		return true
	})
	slices.Sort(bare)
	for _, p := range bare {
		s.errorf("%s returns %s unwrapped, but it is declared secret", call, p)
	}
}

// keepsSecrets checks that values wrapped as secrets in sent are also wrapped in bag.
func (s *step) keepsSecrets(call string, sent, bag *structpb.Struct) {
	s.t.Helper()
	var bare []lumi.Path
	parts("", structpb.NewStructValue(sent), func(p lumi.Path, v *structpb.Value) bool {
		if !isSecret(v) {
			return true
		}
		if !isNull(at(bag, p)) && !isHiddenIn(bag, p) && !s.r.isHidden(p) {
			bare = append(bare, p)
		}
		return false
	})
	slices.Sort(bare)
	for _, p := range bare {
		s.errorf("%s returns %s unwrapped, but it was sent as a secret", call, p)
	}
}

// computed checks that Create and Update return the computed properties and nothing else.
func (s *step) computed(call string, bag *structpb.Struct) {
	s.t.Helper()
	for _, p := range s.r.described.Properties {
		v, there := bag.GetFields()[p.Name]
		chosen := p.Flags&lumi.Computed != 0 && isNull(s.r.wanted.GetFields()[p.Name])
		switch {
		case p.Flags&lumi.Out == 0 && !chosen && there:
			s.errorf("%s returns %s, which the provider does not compute", call, p.Name)
		case chosen && isNull(v):
			s.errorf("%s does not return %s, which is computed and which the program does not set", call, p.Name)
		case p.Flags&lumi.Out == 0 || !p.Required:
		case isNull(v):
			s.errorf("%s does not return %s, which is computed and, not being a pointer in the IDL, must be known now",
				call, p.Name)
		case isUnset(v) && !s.mayBeEmpty(p.Name):
			s.report("unset: "+p.Name, fmt.Sprintf("%s returns %s unset, as %s. It is computed and, not being a pointer in"+
				" the IDL, must be known now; if this is its real value, list it in %s",
				call, p.Name, readableJSON(reveal(v), ""), s.r.h.term("MayBeEmpty")))
		}
	}
}

// keepsFixed checks that an Update did not change the fixed properties.
func (s *step) keepsFixed(call string, bag *structpb.Struct) {
	s.t.Helper()
	if call != "Update" {
		return
	}
	old, now := &structpb.Struct{Fields: map[string]*structpb.Value{}}, &structpb.Struct{Fields: map[string]*structpb.Value{}}
	for _, p := range s.r.described.Properties {
		if was := s.old.GetFields()[p.Name]; p.Flags&lumi.Fixed != 0 && !isNull(was) {
			old.Fields[p.Name], now.Fields[p.Name] = was, bag.GetFields()[p.Name]
		}
	}
	s.differs("Update changes properties that are fixed", old, now, nil)
}

// isUnset reports whether the provider probably forgot to set a value: it is "" or 0, or an object in which some fields are
// "" or 0 and no field was obviously set. A false value may be correct, and an empty list or map is sent only if the
// provider made one.
func isUnset(v *structpb.Value) bool {
	empty, set := look(v)
	return empty && !set
}

// look reports whether a part of v is "" or 0, and whether a part must have been set by the provider.
func look(v *structpb.Value) (empty, set bool) {
	switch k := reveal(v).GetKind().(type) {
	case *structpb.Value_StringValue:
		return k.StringValue == "", k.StringValue != ""
	case *structpb.Value_NumberValue:
		return k.NumberValue == 0, k.NumberValue != 0
	case *structpb.Value_BoolValue:
		return false, k.BoolValue
	case *structpb.Value_ListValue:
		return false, true
	case *structpb.Value_StructValue:
		for _, field := range k.StructValue.GetFields() {
			e, s := look(field)
			empty, set = empty || e, set || s
		}
	}
	return empty, set
}

// mayBeEmpty reports whether the test expects a value of the property, or allows it to be empty.
func (s *step) mayBeEmpty(name string) bool {
	_, expected := s.expected[name]
	return expected || slices.Contains(s.r.mayBeEmpty, name)
}

// readBack returns the properties that Get must return: all except in properties.
func (s *step) readBack() *structpb.Struct {
	state := s.r.current()
	for _, p := range s.r.described.Properties {
		if p.Flags&lumi.In != 0 {
			delete(state.Fields, p.Name)
		}
	}
	return state
}

// hints returns advice on properties that only one of want and got contains, which may be due to the cloud. If the values
// differ, the provider is wrong.
func (s *step) hints(want, got *structpb.Struct) []string {
	var added, missing []lumi.Path
	for _, c := range lumi.CompareAs(s.r.described.Properties, lumi.BagOf(s.r.wrapped(want)), lumi.BagOf(s.r.wrapped(got))).Changes() {
		switch {
		case s.excused(c) || s.r.declares(lumi.Out, func(p lumi.Path) bool { return p.Holds(c.Path) }):
		case c.Kind == lumi.Added:
			added = append(added, c.Path)
		case c.Kind == lumi.Removed:
			missing = append(missing, c.Path)
		}
	}
	var hints []string
	if len(added) > 0 {
		hints = append(hints, "If the cloud sets "+list(added)+" by itself, fill it in in Check")
	}
	if len(missing) > 0 {
		hints = append(hints, "If the cloud does not return "+list(missing)+", list it in "+s.r.h.term("MayDiffer"))
	}
	return hints
}

// changes checks that InspectChange reports the changes in want, unless want is nil.
func (s *step) changes(want []string, resp *lumi.InspectChangeResponse) {
	s.t.Helper()
	if want == nil {
		return
	}
	shown := func(changes []string) string {
		if len(changes) == 0 {
			return "no changes"
		}
		return strings.Join(changes, "\n")
	}
	if got := changeLines(resp); !slices.Equal(want, got) {
		s.errorf("InspectChange reports unexpected changes:\n%s",
			indent("expected\n"+indent(shown(want))+"\nfound\n"+indent(shown(got))))
	}
}

// refused checks that Update fails with a *[lumi.ReplaceError], and changes nothing, if the IDL requires a replacement for
// one of the given paths. Update cannot detect replacements that only the author's InspectChange requires.
func (s *step) refused(want *structpb.Struct, because []lumi.Path) {
	s.t.Helper()
	r := s.r
	if !r.declares(lumi.Replaces, func(p lumi.Path) bool { return slices.ContainsFunc(because, p.Holds) }) {
		return
	}
	sub := s.then("update instead")
	_, _, err := r.callUpdate(s.ctx, r.newChange(r.ID(), r.current(), want))
	var replace *lumi.ReplaceError
	switch text := "Update must be refused, since changing " + list(because) + " requires a replacement"; {
	case err == nil:
		sub.fatalf("%s, but it succeeded", text)
	case !errors.As(err, &replace):
		sub.errorf("%s, but it failed with another error: %s", text, explain(err))
	}
	sub.get(r.current())
}

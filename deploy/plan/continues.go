package plan

import (
	"fmt"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// mostDifferences is how many differences from a plan that was shown are named.
const mostDifferences = 3

// Continues returns nil if the plan may run without asking where shown was agreed to: if it has the same effects, with
// values filled in that were not known, or fewer. Otherwise the error, an *[Error], names the first differences.
//
// A possible replacement may turn out to be an update, and each change to be none, so that only a URN or options differ.
// What is deleted may be deleted by a cleanup, or left as it is.
func (p *Plan) Continues(shown *Plan) error {
	type effect struct {
		urn     urn.URN
		removes bool
	}
	agreed := map[effect][]*Step{}
	for _, s := range shown.effects() {
		e := effect{s.URN, s.removes()}
		agreed[e] = append(agreed[e], s)
	}
	var faults []Fault
	for _, s := range p.effects() {
		e, was := effect{s.URN, s.removes()}, (*Step)(nil)
		if left := agreed[e]; len(left) > 0 {
			was, agreed[e] = left[0], left[1:]
		}
		if problem := s.exceeds(was); problem != "" {
			f := Fault{URN: s.URN, Message: "would be " + problem + ": plan again"}
			if s.New != nil {
				f.Source = s.New.Source
			}
			faults = append(faults, f)
		}
	}
	if len(faults) == 0 {
		return nil
	}
	if more := len(faults) - mostDifferences; more > 0 {
		faults = append(faults[:mostDifferences], Fault{Message: fmt.Sprintf("and %d more", more)})
	}
	return &Error{faults}
}

// exceeds returns how a step goes beyond the one that was shown for the same resource, or "". Shown is nil if there was
// none.
func (s *Step) exceeds(shown *Step) string {
	past := s.Kind.past()
	if shown == nil {
		return past + ", which was not shown"
	}
	isLess := false
	switch shown.Kind {
	case Update, Replace:
		isLess = s.Kind == Same || s.Kind == Move || s.Kind == Update && shown.Possible
	case Delete:
		isLess = s.Kind == Forget
	}
	switch {
	case s.Kind != shown.Kind && !isLess:
		return fmt.Sprintf("%s, but was to be %s", past, shown.Kind.past())
	case s.was() != shown.was():
		return fmt.Sprintf("%s from %q, but was to be from %q", past, s.was(), shown.was())
	case s.removes():
		return ""
	case s.DeleteFirst && !shown.DeleteFirst:
		return "deleted before its replacement is created, which was not shown"
	}
	was, now := filledIn(shown.New.Inputs, s.New.Inputs), s.New.Inputs
	if was.Equal(now) {
		return ""
	}
	for _, all := range [...]lumigl.Value{was, now} {
		for key := range all.Members() {
			if !was.Get(key).Equal(now.Get(key)) {
				return fmt.Sprintf("%s with another %q than was shown", past, key)
			}
		}
	}
	return ""
}

// filledIn returns a value that was shown, with the parts filled in that were not known.
func filledIn(shown, now lumigl.Value) lumigl.Value {
	if _, output, _ := shown.Target(); output != "" || shown.IsUnknown() || shown.IsExpression() {
		return now
	}
	var members lumigl.ObjectBuilder
	members.SetAll(now)
	return shown.Map(func(i int, key string, part lumigl.Value) (lumigl.Value, bool) {
		if shown.Kind() == lumigl.List {
			return filledIn(part, now.At(i)), true
		}
		return filledIn(part, members.Get(key)), true
	})
}

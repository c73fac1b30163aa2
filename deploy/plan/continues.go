package plan

import (
	"fmt"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// mostDifferences is the maximum number of differences listed in an error.
const mostDifferences = 3

// Continues returns nil if the effects of the plan are covered by the approved effects in shown, except that unknown
// values may have become known. Otherwise, it returns an *[Error] with the first differences.
//
// A possible replacement may become an update. A change may become a no-op, or change only the URN or options. A
// deletion may be left to a cleanup or dropped. If the deployment ran before, it may finish its own creations and
// deletions. If it deleted a resource but failed to create the replacement, it creates the replacement, possibly under
// another name chosen by the provider.
func (p *Plan) Continues(shown []Effect) error {
	type subject struct {
		urn     urn.URN
		removes bool
	}
	agreed, labeled := map[subject][]*Effect{}, map[urn.URN]*Effect{}
	for i, e := range shown {
		of := subject{e.URN, e.Kind.removes()}
		agreed[of] = append(agreed[of], &shown[i])
		if e.Label != "" && e.Kind == Replace {
			labeled[e.inProgram()] = &shown[i]
		}
	}
	var faults []Fault
	for _, s := range p.EffectiveSteps() {
		own := s.Old != nil && p.Deployment != 0 && s.Old.Deployment == p.Deployment
		if own && s.removes() || s.Kind == Forget && s.Old.Gone() {
			continue
		}
		of, was := subject{s.URN, s.removes()}, (*Effect)(nil)
		if left := agreed[of]; len(left) > 0 {
			was, agreed[of] = left[0], left[1:]
		}
		e := s.effect()
		if was == nil && e.Kind == Create {
			was = labeled[s.New.InProgram()]
		}
		if was != nil && (own && e.Kind == Update || e.Kind == Create && was.Kind == Replace) {
			e.Kind, e.Was = was.Kind, was.Was
		}
		if problem := e.exceeds(was); problem != "" {
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

// exceeds explains how an effect exceeds the approved effect on the same resource, or returns "" if it does not. A nil
// shown means that there is no approved effect.
func (e Effect) exceeds(shown *Effect) string {
	past := e.Kind.past()
	if shown == nil {
		return past + ", which is not in the approved plan"
	}
	isLess := false
	switch shown.Kind {
	case Update, Replace:
		isLess = e.Kind == Same || e.Kind == Move || e.Kind == Update && shown.Possible
	case Delete:
		isLess = e.Kind == Forget
	}
	switch {
	case e.Kind != shown.Kind && !isLess:
		return fmt.Sprintf("%s instead of %s", past, shown.Kind.past())
	case e.Was != shown.Was:
		return fmt.Sprintf("%s from %q instead of %q", past, e.Was, shown.Was)
	case e.Kind.removes():
		return ""
	case e.DeleteFirst && !shown.DeleteFirst:
		return "deleted before its replacement is created, which is not in the approved plan"
	}
	if e.Drift.Exists() && !e.Drift.Equal(shown.Drift) {
		return past + ", but it was changed outside Lumi since the plan was approved"
	}
	was, now := abridged(filledIn(shown.Inputs, e.Inputs)), e.Inputs
	if isLess { // The name was that of the replacement.
		was = was.With(nameProperty, now.Get(nameProperty))
	}
	if was.Equal(now) {
		return ""
	}
	for _, all := range [...]lumigl.Value{was, now} {
		for key := range all.Members() {
			if !was.Get(key).Equal(now.Get(key)) {
				return fmt.Sprintf("%s with a different %q than approved", past, key)
			}
		}
	}
	return ""
}

// filledIn returns shown with its unknown parts replaced by parts of now.
func filledIn(shown, now lumigl.Value) lumigl.Value {
	if _, output, _ := shown.Target(); output != "" || shown.IsUnknown() || shown.IsExpression() && !expr.IsKnown(shown) {
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

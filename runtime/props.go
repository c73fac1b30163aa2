package lumi

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/lumi-idl/lumi/internal/constraint"
	"github.com/lumi-idl/lumi/internal/property"
	"github.com/lumi-idl/lumi/runtime/internal/signed"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// Required visits a required property. Encoding omits it if it is a nil list, map, or any, or a zero URN, asset, or
// archive.
func Required[P any](p *Props, name string, field P, c Codec[P], flags ...Flags) {
	p.property(name, field, c.codec, required|join(flags))
}

// Optional visits an optional property, which is absent if *field is nil.
func Optional[T any](p *Props, name string, field **T, c Codec[*T], flags ...Flags) {
	f := join(flags)
	if v := p.find(name, c.codec, f); v != nil {
		value := new(T)
		if p.decodeFound(v, value, c.codec) {
			*field = value
		}
		return
	}
	var from any
	if *field != nil {
		from = *field
	}
	p.put(name, from, c.codec, f)
}

// Nilable visits an optional property of a type that can be nil: a list, a map, or an any.
func Nilable[P any](p *Props, name string, field P, c Codec[P], flags ...Flags) {
	p.property(name, field, c.codec, join(flags))
}

const (
	notHidden = math.MaxInt
	maxDepth  = 100
	// maxFaults limits the faults reported by a walk, since every element of a huge list may be invalid.
	maxFaults = 100
	// stepsPerCheck is the number of steps between checks of the context.
	stepsPerCheck = 1 << 10
)

// newProps returns a walk over a bag with the given marks.
func newProps(ctx context.Context, m mode, bag *mark) *Props {
	p := walks.Get().(*Props)
	p.ctx, p.mode, p.hidden = ctx, m, notHidden
	p.path = p.steps[:0]
	p.marked = append(p.marks[:0], bag)
	if m == encoding {
		p.made = slices.Grow(p.made, 16)
	}
	return p
}

// walks holds the walks passed to release.
var walks = sync.Pool{New: func() any { return new(Props) }}

// release makes the memory of p available to other walks. p must not be used afterward.
func (p *Props) release() {
	const most = 1024 // Clearing more would take longer than most walks.
	made := p.made[:0]
	if cap(made) > most {
		made = nil
	}
	clear(made[:cap(made)])
	*p = Props{made: made}
	walks.Put(p)
}

// property decodes, encodes, or describes the property stored in field.
func (p *Props) property(name string, field any, c codec, f Flags) {
	if v := p.find(name, c, f); v != nil {
		c.decode(p, v, field)
		p.pop()
		return
	}
	p.put(name, field, c, f)
}

// find returns a property's value or default when decoding, or nil if there is nothing to decode. If the result is not
// nil, the path includes the property, and the caller must decode it and call pop. When describing, find records the
// property and returns nil.
func (p *Props) find(name string, c codec, f Flags) *property.Value {
	switch p.mode {
	case encoding:
		return nil
	case describe:
		p.properties = append(p.properties, Property{
			Name: name, Kind: c.kind(), Flags: f &^ required, Required: f&required != 0, Was: formerNames(c),
		})
		p.codecs = append(p.codecs, c)
		return nil
	}
	if p.only != 0 && f&p.only == 0 && len(p.path) == 0 {
		return nil
	}
	v := p.object.Get(name)
	if v == nil && p.mode == lenient {
		for _, was := range formerNames(c) {
			if v = p.object.Get(was); v != nil {
				break
			}
		}
	}
	if v != nil {
		p.seen++
	}
	if !p.push(step{name: name, index: fieldStep}) {
		return nil
	}
	p.secrets.AddName(name)
	if f&Secret != 0 {
		p.hide()
	}
	v, is := p.open(v)
	switch {
	case is != absent && f&Out != 0 && p.mode == strict:
		p.fault("is set by the provider, not by a program")
	case is == present:
		return v
	case is == unknown:
		p.setUnknown(c)
	case p.fallback(c) != nil:
		return p.fallback(c)
	case f&(required|Out) == required:
		p.lacks()
	case f&(required|Out) == required|Out && p.mode == lenient && p.only == 0:
		p.mark().missing = true // no misfit: a resource has no results before it is created
	}
	p.pop()
	return nil
}

// decodeFound decodes a value returned by find and calls pop. It returns false if the value is invalid or unknown.
func (p *Props) decodeFound(v *property.Value, into any, c codec) bool {
	ok := c.decode(p, v, into)
	p.pop()
	return ok
}

// lacks handles an absent required property. It is a fault unless the bag is stored, since stored bags may predate the
// property.
func (p *Props) lacks() {
	if p.mode == strict {
		p.fault("is required, but missing")
		p.mark().missing = true
		return
	}
	p.leaveOut()
}

// leaveOut marks the current value as missing, so that encoding omits it. If only out properties are decoded, it sets no
// mark, since the provider may set them later.
func (p *Props) leaveOut() {
	p.misfit = true
	if p.only == 0 {
		p.mark().missing = true
	}
}

// mismatch reports a value of the wrong kind. In a stored bag, which may predate the IDL, the value counts as absent.
func (p *Props) mismatch(expected string, found *property.Value) {
	p.wrong("expected %s, found %s", expected, kindOf(found, p.isHidden()))
}

// wrong reports a fault in the current value and marks the value as unknown, since it cannot be compared. In a stored
// bag, the value counts as absent instead.
func (p *Props) wrong(format string, args ...any) {
	if p.mode == lenient {
		p.leaveOut()
		return
	}
	p.fault(format, args...)
	p.mark().unknown = true
}

func (p *Props) fault(format string, args ...any) {
	if len(p.faults) >= maxFaults {
		return
	}
	message := format
	if len(args) > 0 {
		message = fmt.Sprintf(format, args...)
	}
	p.faults = append(p.faults, Fault{Path: p.at(), Message: message})
}

// at returns the path of the current value for messages, without secret keys and with long keys shortened.
func (p *Props) at() Path { return render(p.path, p.hidden, constraint.Shorten) }

// reported returns the faults of the walk. If there are maxFaults, it appends a fault saying that there may be more.
func (p *Props) reported() []Fault {
	if len(p.faults) < maxFaults {
		return p.faults
	}
	return append(p.faults[:maxFaults], Fault{Message: "there may be more errors"})
}

// reportFound moves the faults of the current asset or archive from priorFaults to faults. It rewrites their paths, since
// package content does not know which keys are property names or which values the IDL declares secret.
func (p *Props) reportFound() {
	if len(p.priorFaults) == 0 {
		return
	}
	keys := slices.Clone(p.path)
	for i := range keys {
		if keys[i].index == fieldStep {
			keys[i].index = keyStep
		}
	}
	shown, masked := render(keys, notHidden, nil), render(keys, p.hidden, nil)
	p.priorFaults = slices.DeleteFunc(p.priorFaults, func(f Fault) bool {
		here := f.Path == shown || f.Path == masked
		if here {
			p.faults = append(p.faults, Fault{Path: p.at(), Message: f.Message})
		}
		return here
	})
}

type presence uint8

const (
	absent presence = iota
	present
	unknown
)

// open unwraps and classifies the current value. It marks secret and unknown values, and reports a fault if an unknown
// value is not allowed.
func (p *Props) open(v *property.Value) (*property.Value, presence) {
	switch v.Kind() {
	case property.Absent, property.Null:
		return nil, absent
	case property.Object:
		signature := signed.Signature(v)
		if signature == "" {
			p.unsigned = v
		}
		if signature != wire.Secret {
			return v, present
		}
		inner, _ := signed.Reveal(v)
		p.hide()
		p.mark().secret = true
		if p.mode == strict && hasExtraFields(v) {
			p.fault("a secret must contain a value and nothing else")
		}
		v = inner
		if v.IsNull() {
			return nil, absent
		}
	case property.String:
	default:
		return v, present
	}
	if !signed.IsUnknown(v) {
		if p.isHidden() {
			p.secrets.AddValue(v.Text())
		}
		return v, present
	}
	p.notKnown()
	return nil, unknown
}

func (p *Props) notKnown() {
	if !p.unknown {
		p.fault("must be known here, but is not known yet")
		return
	}
	p.mark().unknown = true
}

// push moves to the part at step s. It returns false, without moving, if the depth limit or the maximum number of faults
// is reached, or if the context is done.
func (p *Props) push(s step) bool {
	if p.took++; p.took%stepsPerCheck == 0 && !p.done {
		p.done = p.ctx.Err() != nil
	}
	switch {
	case p.done || len(p.faults) >= maxFaults:
		return false
	case len(p.path) == maxDepth:
		p.fault("is nested deeper than %d levels", maxDepth)
		return false
	}
	if s.index == keyStep && p.isHidden() {
		p.secrets.AddKey(s.name)
	}
	var m *mark
	if around := p.marked[len(p.path)]; around != nil {
		m = around.parts[s]
	}
	p.path, p.marked = append(p.path, s), append(p.marked, m)
	return true
}

func (p *Props) pop() {
	p.path, p.marked = p.path[:len(p.path)-1], p.marked[:len(p.path)]
	if len(p.path) < p.hidden {
		p.hidden = notHidden
	}
}

// hide makes the current value secret until pop leaves it.
func (p *Props) hide() { p.hidden = min(p.hidden, len(p.path)) }

func (p *Props) isHidden() bool { return len(p.path) >= p.hidden }

// came returns the mark of the current value, which must not be modified. It is never nil.
func (p *Props) came() *mark {
	if m := p.marked[len(p.path)]; m != nil {
		return m
	}
	return &unmarked
}

var unmarked mark

// mark returns the mark of the current value, creating it if necessary.
func (p *Props) mark() *mark {
	i := len(p.path)
	for i > 0 && p.marked[i] == nil {
		i--
	}
	if p.marked[i] == nil {
		p.marked[i] = &mark{}
	}
	for ; i < len(p.path); i++ {
		p.marked[i+1] = p.marked[i].part(p.path[i])
	}
	return p.marked[i]
}

// put encodes the property stored in field, which is absent if field is nil. It does nothing when not encoding, or if
// skip or only excludes the property.
func (p *Props) put(name string, field any, c codec, f Flags) {
	if p.mode != encoding || f&p.skip != 0 || p.only != 0 && f&p.only == 0 && len(p.path) == 0 {
		return
	}
	if !p.push(step{name: name, index: fieldStep}) {
		return
	}
	if len(p.path) == 1 {
		p.flags = f
	}
	faults := len(p.faults)
	if v := p.encode(field, c, f); v.Kind() != property.Absent {
		p.made = append(p.made, property.Field{Name: name, Value: v})
	} else if p.complete && f&required != 0 && len(p.faults) == faults {
		p.fault("is required, but missing")
	}
	if len(p.faults) > faults && len(p.path) == 1 {
		p.invalid = append(p.invalid, name)
	}
	p.pop()
}

// encode returns the wire form of the value at the pointer from, wrapped if it is a secret. It may be absent.
func (p *Props) encode(from any, c codec, f Flags) property.Value {
	came := p.came()
	if came.missing {
		return property.Value{}
	}
	secret := came.secret
	var v property.Value
	if came.unknown {
		v = property.StringOf(wire.Unknown) // It is wrapped only if it arrived wrapped, even if the IDL declares it secret.
	} else {
		if secret = secret || f&Secret != 0; secret {
			p.hide()
		}
		if from != nil {
			v = c.encode(p, from)
		}
	}
	if v.Kind() != property.Absent && secret {
		return signed.Secret(v)
	}
	return v
}

// decodeObject decodes an object into another and reports undeclared fields.
func (p *Props) decodeObject(object *property.Value, into Object) {
	outer, seen, rules, faults := p.object, p.seen, p.rules, len(p.faults)
	p.object, p.seen, p.rules = object, 0, nil
	into.Lumi(p)
	p.checkRules(faults)
	if p.seen < len(object.Fields()) && p.only == 0 {
		p.undeclared(into)
	}
	p.object, p.seen, p.rules = outer, seen, rules
}

// encodeObject encodes an object.
func (p *Props) encodeObject(from Object) property.Value {
	first := len(p.made)
	from.Lumi(p)
	fields := property.Sorted(p.made[first:])
	p.made = p.made[:first]
	return property.ObjectOf(fields...)
}

package content

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/internal/signed"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// Stamp looks at the assets and archives anywhere in a bag of properties, as a program wants them, before a provider
// checks these. It returns the bag with the hash of each file, folder and archive file beside its path, in place of any
// hash that was there; the bag that was given stays as it is. Then what a provider compares, and what is stored, says
// what the content is and not only where.
//
// Texts and addresses get no hash: a text is its own, and what is behind an address is not fetched, so that it counts
// as the same as long as the address is. An archive of assets has one if everything in it has one or is a text. What is
// not known yet, or malformed, is left alone, for the provider to judge.
//
// The error is a *[lumi.InvalidError] with one fault for each asset and archive that is not there, or cannot be read;
// it tells no name in a secret. Any other error is that of the context.
func Stamp(ctx context.Context, bag lumi.Bag) (lumi.Bag, error) {
	s := &stamper{ctx: ctx}
	given := bag.Struct().GetFields()
	fields := s.fields(given, spot{})
	switch {
	case ctx.Err() != nil:
		return lumi.Bag{}, ctx.Err()
	case len(s.faults) > 0:
		return lumi.Bag{}, &lumi.InvalidError{Faults: s.faults}
	case maps.Equal(fields, given):
		return bag, nil
	}
	return lumi.BagOf(&structpb.Struct{Fields: fields}), nil
}

const (
	// maxDepth is deeper than a provider decodes, so that what is deeper still is refused there.
	maxDepth = 1000
	// maxFaults is how many faults anybody would read.
	maxFaults = 100
	// hashKey is where the hash stands in a signed object.
	hashKey = "hash"
)

type stamper struct {
	ctx    context.Context
	faults []lumi.Fault
}

// spot is the place of a value in a bag. Its path is rendered only for a fault.
type spot struct {
	outer  *spot
	name   string
	number int // of an element in a list, or -1
	depth  int
	hidden bool // in a secret
}

func (at spot) key(key string) spot {
	return spot{outer: &at, name: key, number: -1, depth: at.depth + 1, hidden: at.hidden}
}

func (at spot) index(i int) spot {
	return spot{outer: &at, number: i, depth: at.depth + 1, hidden: at.hidden}
}

func (at spot) path() lumi.Path {
	switch {
	case at.outer == nil:
		return ""
	case at.number >= 0:
		return at.outer.path().Index(at.number)
	case at.outer.hidden:
		return at.outer.path() + "[…]"
	}
	return at.outer.path().Key(at.name)
}

// isDone reports whether there is no use in going on.
func (s *stamper) isDone() bool { return len(s.faults) >= maxFaults || s.ctx.Err() != nil }

func (s *stamper) fault(at spot, err error) {
	message := err.Error()
	var about *readError
	switch {
	case s.isDone():
		return
	case at.hidden && errors.Is(err, fs.ErrNotExist):
		message = "no such file"
	case at.hidden && errors.As(err, &about):
		message = about.message
	}
	s.faults = append(s.faults, lumi.Fault{Path: at.path(), Message: message})
	if len(s.faults) == maxFaults {
		s.faults = append(s.faults, lumi.Fault{Message: "there may be more errors"})
	}
}

// fields returns the fields of an object with what is in them stamped: the same map where that changes nothing.
func (s *stamper) fields(fields map[string]*structpb.Value, at spot) map[string]*structpb.Value {
	stamped, copied := fields, false
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		v := s.value(fields[key], at.key(key))
		if v == fields[key] {
			continue
		}
		if !copied {
			stamped, copied = maps.Clone(fields), true
		}
		stamped[key] = v
	}
	return stamped
}

// value returns a value with what is in it stamped: the same one where that changes nothing.
func (s *stamper) value(v *structpb.Value, at spot) *structpb.Value {
	if at.depth > maxDepth || s.isDone() {
		return v
	}
	switch k := v.GetKind().(type) {
	case *structpb.Value_ListValue:
		return s.list(v, k.ListValue.GetValues(), at)
	case *structpb.Value_StructValue:
		switch fields := k.StructValue.GetFields(); signed.Signature(v) {
		case wire.Secret:
			at.hidden, at.depth = true, at.depth+1
			return with(v, "value", s.value(fields["value"], at))
		case wire.Asset, wire.Archive:
			return s.content(v, at).value
		case "":
			stamped := s.fields(fields, at)
			if maps.Equal(stamped, fields) {
				return v
			}
			return structpb.NewStructValue(&structpb.Struct{Fields: stamped})
		}
	}
	return v
}

func (s *stamper) list(v *structpb.Value, values []*structpb.Value, at spot) *structpb.Value {
	stamped := make([]*structpb.Value, len(values))
	for i, elem := range values {
		stamped[i] = s.value(elem, at.index(i))
	}
	if slices.Equal(stamped, values) {
		return v
	}
	return structpb.NewListValue(&structpb.ListValue{Values: stamped})
}

// stamped is a signed object after its content was looked at.
type stamped struct {
	value *structpb.Value
	// hash is "" where the object gets none.
	hash string
	// records are those of the files in it, of an asset that of one without a name. They say nothing unless complete is
	// set: what is behind an address, or not known yet, was not looked at.
	records  []record
	complete bool
	// secret says that the hash tells something of a secret that begins inside of the object.
	secret bool
}

// content stamps an asset or archive, perhaps inside a secret. Anything else it leaves as it is.
func (s *stamper) content(v *structpb.Value, at spot) stamped {
	if at.depth > maxDepth || s.isDone() {
		return stamped{value: v}
	}
	signature, fields := signed.Signature(v), v.GetStructValue().GetFields()
	if signature == wire.Secret {
		at.hidden, at.depth = true, at.depth+1
		inner := s.content(fields["value"], at)
		inner.value, inner.secret = with(v, "value", inner.value), true
		return inner
	}
	key, location := locationOf(fields)
	plain, secret := signed.Reveal(location)
	at.hidden = at.hidden || secret
	made := stamped{value: v}
	var ok bool
	if signature == wire.Archive && key == "assets" {
		ok = s.assets(&made, location, plain, at)
	} else {
		ok = s.file(&made, signature, key, plain, at)
	}
	if !ok {
		return stamped{value: v}
	}
	made.secret = made.secret || secret
	var hash *structpb.Value
	if made.hash != "" {
		if hash = structpb.NewStringValue(made.hash); made.secret {
			hash = lumi.NewSecret(hash)
		}
	}
	made.value = with(made.value, hashKey, hash)
	return made
}

// file looks at the content of an asset, or of an archive that is not made of assets, and reports whether it is one that
// can be looked at.
func (s *stamper) file(made *stamped, signature, key string, location *structpb.Value, at spot) bool {
	text, ok := stringOf(location)
	var c file
	switch {
	case signature == wire.Asset && key == "text":
		c = lumi.TextAsset(text)
	case signature == wire.Asset && key == "path":
		c = lumi.FileAsset(text)
	case signature == wire.Asset && key == "uri":
		c = lumi.URIAsset(text)
	case signature == wire.Archive && key == "path":
		c = lumi.FileArchive(text)
	case signature == wire.Archive && key == "uri":
		c = lumi.URIArchive(text)
	default:
		return false
	}
	if !ok || s.skips(c, at) {
		return ok
	}
	all, err := records(s.ctx, c)
	if err != nil {
		s.fault(at, err)
		return true
	}
	made.records, made.complete = all, true
	if key != "text" {
		made.hash = hashOf(c, all)
	}
	return true
}

// file is an asset, or an archive that is not made of assets.
type file interface {
	lumi.Content
	located
}

// skips reports whether the content is not looked at, since it is behind an address or cannot be anywhere.
func (s *stamper) skips(c file, at spot) bool {
	if _, ok := c.URI(); !ok {
		return false
	}
	where, err := placeOf(c)
	if err != nil {
		s.fault(at, err)
	}
	return err != nil || where.isRemote()
}

// assets does what file does for an archive that is made of assets and archives, given these with and without the wrapper
// of a secret.
func (s *stamper) assets(made *stamped, wrapped, assets *structpb.Value, at spot) bool {
	if assets.GetStructValue() == nil || signed.Signature(assets) != "" {
		return false
	}
	fields := assets.GetStructValue().GetFields()
	changed, taken := maps.Clone(fields), &names{}
	made.complete = true
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if signed.IsNull(fields[key]) {
			continue
		}
		at := at.key(key)
		name, err := cleanName(key)
		if err != nil {
			s.fault(at, withoutEntry(err)) // which the path has
			made.complete = false
			continue
		}
		part := s.content(fields[key], at)
		changed[key] = part.value
		made.secret = made.secret || part.secret
		made.complete = made.complete && part.complete
		for _, r := range part.records {
			r.name = strings.TrimSuffix(name+"/"+r.name, "/")
			if err := taken.addFile(r.name); err != nil {
				s.fault(at, err)
				break
			}
			made.records = append(made.records, r)
		}
	}
	if !maps.Equal(changed, fields) {
		plain := structpb.NewStructValue(&structpb.Struct{Fields: changed})
		made.value = with(made.value, "assets", rewrap(wrapped, plain))
	}
	if made.complete {
		made.hash = hashRecords(made.records)
	}
	return true
}

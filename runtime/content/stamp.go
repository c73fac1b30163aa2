package content

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/internal/property"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/internal/signed"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// Stamp checks the assets and archives in a program's properties before they are passed to a provider. It returns a copy
// of the bag with a hash of the content in each file, folder, and archive file, so that a diff detects changed content.
// Existing hashes are replaced.
//
// Text and remote content get no hash: text is compared directly, and remote content is not fetched; it counts as
// unchanged unless its URI changes. An archive of assets gets a hash if everything in it is text or has a hash. Stamp
// does not change unknown or malformed values, which the provider checks.
//
// If an asset or archive is missing or unreadable, Stamp returns a *[lumi.InvalidError] with a fault for each. Faults do
// not contain secret names. If ctx is done, Stamp returns ctx.Err().
func Stamp(ctx context.Context, bag lumi.Bag) (lumi.Bag, error) {
	s := &stamper{ctx: ctx}
	given := bag.Object().Fields()
	stamped, changed := s.parts(given, func(i int) spot { return spot{}.key(given[i].Name) })
	switch {
	case ctx.Err() != nil:
		return lumi.Bag{}, ctx.Err()
	case len(s.faults) > 0:
		return lumi.Bag{}, &lumi.InvalidError{Faults: s.faults}
	case !changed:
		return bag, nil
	}
	object := property.ObjectOf(stamped...)
	return lumi.BagFrom(&object), nil
}

const (
	// maxDepth limits recursion. It exceeds the depth limit of providers, which report values nested too deeply.
	maxDepth = 1000
	// maxFaults is the maximum number of reported faults.
	maxFaults = 100
	// hashKey is the key of the hash in an asset or archive.
	hashKey = "hash"
)

type stamper struct {
	ctx    context.Context
	faults []lumi.Fault
}

// spot is the location of a value in a bag. It is converted to a path only for faults.
type spot struct {
	outer  *spot
	name   string
	number int // index of a list element, or -1
	depth  int
	hidden bool // inside a secret
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

// isDone reports whether to stop because of too many faults or a done context.
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

// value returns a value with all assets and archives in it stamped. It returns the same value if nothing changed.
func (s *stamper) value(v *property.Value, at spot) *property.Value {
	if at.depth > maxDepth || s.isDone() {
		return v
	}
	switch v.Kind() {
	case property.List:
		if stamped, changed := s.parts(v.Elements(), at.index); changed {
			list := property.ListOf(stamped)
			return &list
		}
	case property.Object:
		switch signed.Signature(v) {
		case wire.Secret:
			at.hidden, at.depth = true, at.depth+1
			return with(v, "value", s.value(v.Get("value"), at))
		case wire.Asset, wire.Archive:
			return s.content(v, at).value
		case "":
			if stamped, changed := s.parts(v.Fields(), func(i int) spot { return at.key(v.Fields()[i].Name) }); changed {
				object := property.ObjectOf(stamped...)
				return &object
			}
		}
	}
	return v
}

// parts returns the fields of an object or the elements of a list with their values stamped, and reports whether that
// changed any. at returns their locations.
func (s *stamper) parts(parts []property.Field, at func(i int) spot) (stamped []property.Field, changed bool) {
	for i := range parts {
		v := s.value(&parts[i].Value, at(i))
		if v == &parts[i].Value {
			continue
		}
		if !changed {
			stamped, changed = slices.Clone(parts), true
		}
		stamped[i].Value = *v
	}
	return stamped, changed
}

// stamped is the result of stamping an asset or archive.
type stamped struct {
	value *property.Value
	// hash is the hash of the content, or "" if it gets none.
	hash string
	// records holds the result of function records if complete is set. It is unset for remote and unknown content,
	// which is not read.
	records  []record
	complete bool
	// secret is set if the hash depends on a secret within the object.
	secret bool
}

// content stamps an asset or archive, which may be wrapped as a secret. It returns other values unchanged.
func (s *stamper) content(v *property.Value, at spot) stamped {
	if at.depth > maxDepth || s.isDone() {
		return stamped{value: v}
	}
	signature := signed.Signature(v)
	if signature == wire.Secret {
		at.hidden, at.depth = true, at.depth+1
		inner := s.content(v.Get("value"), at)
		inner.value, inner.secret = with(v, "value", inner.value), true
		return inner
	}
	key, location := locationOf(v.Fields())
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
	var hash *property.Value
	if made.hash != "" {
		text := property.StringOf(made.hash)
		if made.secret {
			text = signed.Secret(text)
		}
		hash = &text
	}
	made.value = with(made.value, hashKey, hash)
	return made
}

// file stamps an asset, or an archive other than an archive of assets, by setting the hash and records in made. It
// returns false if the value is malformed or its location is unknown.
func (s *stamper) file(made *stamped, signature, key string, location *property.Value, at spot) bool {
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

// file is implemented by assets and archives. It is not used for archives of assets.
type file interface {
	lumi.Content
	located
}

// skips reports whether c is remote or its location is invalid, so that it is not read. It reports a fault if the location
// is invalid.
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

// assets is like file, but for an archive of assets. wrapped holds its members, perhaps in secret wrappers, and assets
// holds them without the wrappers.
func (s *stamper) assets(made *stamped, wrapped, assets *property.Value, at spot) bool {
	if assets.Kind() != property.Object || signed.Signature(assets) != "" {
		return false
	}
	fields := assets.Fields()
	changed, taken, isChanged := slices.Clone(fields), &names{}, false
	made.complete = true
	for i, f := range fields {
		if f.Value.IsNull() {
			continue
		}
		at := at.key(f.Name)
		name, err := cleanName(f.Name)
		if err != nil {
			s.fault(at, withoutEntry(err)) // The path already contains the name.
			made.complete = false
			continue
		}
		part := s.content(&fields[i].Value, at)
		isChanged = isChanged || part.value != &fields[i].Value
		changed[i].Value = *part.value
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
	if isChanged {
		plain := property.ObjectOf(changed...)
		made.value = with(made.value, "assets", rewrap(wrapped, &plain))
	}
	if made.complete {
		made.hash = hashRecords(made.records)
	}
	return true
}

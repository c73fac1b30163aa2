package plan

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// Ignore returns new with the values at paths taken from old.
func Ignore(new, old, paths lumigl.Value) lumigl.Value {
	for _, p := range paths.Elements() {
		path, _ := p.Text()
		new = graft(new, old, wire.PathParts(path))
	}
	return new
}

// graft returns a copy of to with the value at path taken from from. It descends into secrets, which stay secret, but
// not into expressions, whose structure is unknown.
func graft(to, from lumigl.Value, path []string) lumigl.Value {
	if len(path) == 0 {
		return from
	}
	newContent, toSecret := to.Secret()
	oldContent, fromSecret := from.Secret()
	switch {
	case toSecret && fromSecret:
		return to.With("value", graft(newContent, oldContent, path))
	case toSecret:
		return to.With("value", graft(newContent, from, path))
	case fromSecret && to.Exists():
		return from.With("value", graft(to, oldContent, path))
	case to.IsExpression():
		return to
	}
	key, index := keyOrIndex(path[0])
	switch {
	case key == wildcard && index < 0:
		to = to.Map(func(i int, key string, part lumigl.Value) (lumigl.Value, bool) {
			if to.Kind() == lumigl.List {
				return graft(part, from.At(i), path[1:]), from.At(i).Exists()
			}
			return graft(part, from.Get(key), path[1:]), true
		})
		for key, part := range from.Members() {
			if to.Kind() == lumigl.Object && !to.Get(key).Exists() {
				to = to.With(key, graft(lumigl.Value{}, part, path[1:]))
			}
		}
	case index >= 0:
		return to.Map(func(i int, _ string, part lumigl.Value) (lumigl.Value, bool) {
			return graft(part, from.At(i), path[1:]), i == index && to.Kind() == lumigl.List && from.At(i).Exists()
		})
	case to.Kind() == lumigl.Object:
		return to.With(key, graft(to.Get(key), from.Get(key), path[1:]))
	case !to.Exists() && len(path) == 1:
		return to.With(key, from.Get(key))
	}
	return to
}

// At returns the value at a path in v, or an absent value.
func At(v lumigl.Value, path string) lumigl.Value {
	for _, part := range wire.PathParts(path) {
		if content, ok := v.Secret(); ok {
			v = content
		}
		if key, index := keyOrIndex(part); index >= 0 {
			v = v.At(index)
		} else {
			v = v.Get(key)
		}
	}
	return v
}

// wildcard matches every element of a list or map. It cannot be a property name.
const wildcard = "[*]"

// keyOrIndex parses a path part. The index is negative if the part is a key.
func keyOrIndex(part string) (key string, index int) {
	inside, ok := strings.CutPrefix(part, "[")
	if !ok || part == wildcard {
		return strings.TrimPrefix(part, "."), -1
	}
	inside = strings.TrimSuffix(inside, "]")
	if i, err := strconv.Atoi(inside); err == nil {
		return "", i
	}
	_ = json.Unmarshal([]byte(inside), &key)
	return key, -1
}

// covers reports whether path equals, contains, or is contained in any of paths.
func covers(paths lumigl.Value, path string) bool {
	parts := wire.PathParts(path)
	for _, p := range paths.Elements() {
		pattern, _ := p.Text()
		met := true
		for i, part := range wire.PathParts(pattern) {
			if i == len(parts) {
				break
			}
			key, index := keyOrIndex(parts[i])
			wantKey, wantIndex := keyOrIndex(part)
			met = met && (part == wildcard || key == wantKey && index == wantIndex)
		}
		if met {
			return true
		}
	}
	return false
}

// holds reports whether v or any part of it satisfies is.
func holds(v lumigl.Value, is func(lumigl.Value) bool) (found bool) {
	v.Replace(func(part lumigl.Value) (lumigl.Value, bool) {
		found = found || is(part)
		return lumigl.Value{}, false
	})
	return found
}

// identity returns an object with the non-null properties among names.
func identity(inputs lumigl.Value, names []string) lumigl.Value {
	var all lumigl.ObjectBuilder
	for _, name := range names {
		if v := inputs.Get(name); v.Kind() != lumigl.Null { // null is equivalent to absent
			all.Set(name, v)
		}
	}
	return all.Object()
}

package convert

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/lumigl"
)

// hiding is a tree of the parts of a value that are secret.
type hiding struct {
	all   bool
	parts map[string]*hiding
}

func (h *hiding) part(step string) *hiding {
	if h.parts == nil {
		h.parts = map[string]*hiding{}
	}
	if h.parts[step] == nil {
		h.parts[step] = &hiding{}
	}
	return h.parts[step]
}

// hide returns v with its secret parts marked as secrets. Secrets are not nested.
func (h *hiding) hide(v lumigl.Value) lumigl.Value {
	if h.all {
		return secret(v)
	}
	isList := v.Kind() == lumigl.List
	return v.Map(func(i int, key string, part lumigl.Value) (lumigl.Value, bool) {
		if isList {
			key = strconv.Itoa(i)
		}
		p := h.parts[key]
		if p == nil {
			return part, false
		}
		return p.hide(part), true
	})
}

// sensitive returns the secret parts of a resource's attributes, given their paths. If a path does not exist, its
// longest existing prefix is treated as secret.
func (o *openTofu) sensitive(paths, attributes *source) *hiding {
	hidden := &hiding{all: paths.exists() && paths.value.Kind() != lumigl.List}
	for _, path := range paths.elements() {
		if !path.is(lumigl.List) {
			hidden.all = true // a malformed path could refer to anything
			continue
		}
		path.hide() // its keys may be secret
		at, v := hidden, attributes.value
		complete := true
		var types []*hiding
		// Read the whole path, even after a nonexistent step.
		for _, step := range path.elements() {
			name, ok := stepOf(step)
			key, next, there := into(v, name)
			if wrapped, any := dynamic(v); any && complete && !there {
				// A value of dynamic type is stored with its type.
				if key, next, there = into(wrapped, name); there {
					types = append(types, at.part("type"))
					at = at.part("value")
				}
			}
			complete = complete && ok && there
			if complete {
				at, v = at.part(key), next
			}
		}
		at.all = true
		for _, t := range types {
			t.all = t.all || !complete || v.Len() > 0 // a type contains the keys of the value
		}
		if !complete {
			path.note(SensitiveLoss, "the path does not resolve; everything below its longest known part is secret")
		}
	}
	return hidden
}

// stepOf returns the key or index in a step of a path. It returns false if the step is malformed. An index is stored
// with its type.
func stepOf(step *source) (string, bool) {
	if !step.is(lumigl.Object) {
		return "", false
	}
	kind, value := step.key("type").text(), step.key("value")
	if kind == "index" && value.value.Kind() == lumigl.Object {
		value.key("type").take()
		value = value.key("value")
	}
	v := value.take()
	if literal, ok := v.Literal(); ok {
		return literal, true
	}
	return v.Text()
}

// into returns the part of v with the given key or index, and the normalized key. ok is false if there is no such part.
func into(v lumigl.Value, name string) (key string, part lumigl.Value, ok bool) {
	if v.Kind() == lumigl.List {
		i, err := strconv.Atoi(name)
		if err != nil {
			return "", lumigl.Value{}, false
		}
		part = v.At(i)
		return strconv.Itoa(i), part, part.Exists()
	}
	part = v.Get(name)
	return name, part, part.Exists()
}

// dynamic returns the value of an attribute of dynamic type, which is stored as an object with the value and its type.
// It returns false for other attributes.
func dynamic(v lumigl.Value) (lumigl.Value, bool) {
	value := v.Get("value")
	return value, v.Len() == 2 && value.Exists() && v.Get("type").Exists()
}

// copied handles the built-in type terraform_data. Its output is a copy of its input, but only the input is marked as
// sensitive.
func (h *hiding) copied(kind string, attributes lumigl.Value) {
	in := h.parts["input"]
	switch {
	case kind != "terraform_data" || in == nil:
	case attributes.Get("input").Equal(attributes.Get("output")):
		h.parts["output"] = in
	default:
		h.part("output").all = true
	}
}

// guess marks strings as secrets if their names suggest it. The state lists attributes marked as sensitive by the
// configuration but not attributes marked by the provider's schema.
func (h *hiding) guess(s *source, kind string) {
	called := func(v lumigl.Value) bool {
		for key, m := range v.Members() {
			if secretly(key, m, kind) {
				return true
			}
		}
		return false
	}
	switch {
	case h.all || !has(s.value, called):
	case s.value.Kind() == lumigl.List:
		for i, e := range s.elements() {
			h.part(strconv.Itoa(i)).guess(e, kind)
		}
	default:
		_, typed := dynamic(s.value)
		for key, m := range s.members() {
			if typed && key == "type" {
				continue // a type contains names, not values
			}
			part := h.part(key)
			if secretly(key, m.value, kind) && !part.all {
				part.all = true
				m.note(GuessedLoss, "marked secret because of its name: the state does not record which values providers consider secret")
			}
			part.guess(m, kind)
		}
	}
}

// secretWords lists suffixes of secrets' names, without separators.
var secretWords = []string{
	"password", "passwd", "passphrase", "secret", "secretstring", "secretbinary", "secretdata", "secretvalue", "token",
	"privatekey", "privatekeypem", "privatekeypempkcs8", "privatekeyopenssh", "secretkey", "accesskey", "apikey",
	"credentials", "connectionstring",
}

var betweenWords = strings.NewReplacer("_", "", "-", "", ".", "")

// secretly reports whether a value is a nonempty string whose key suggests a secret. kind is the type of the resource.
func secretly(key string, v lumigl.Value, kind string) bool {
	if text, _ := v.Text(); text == "" {
		return false
	}
	if kind == "random_password" {
		return key == "result" || key == "bcrypt_hash"
	}
	name := betweenWords.Replace(strings.ToLower(key))
	return slices.ContainsFunc(secretWords, func(word string) bool { return strings.HasSuffix(name, word) })
}

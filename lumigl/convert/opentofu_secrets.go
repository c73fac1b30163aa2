package convert

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/lumigl"
)

// hiding is a tree of what is secret within a value.
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

// hide wraps what is secret. A secret in a secret needs no wrapping.
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

// sensitive reads the paths to what is secret. If one leads nowhere, all that it is known to be in is secret.
func (o *openTofu) sensitive(paths, attributes *source) *hiding {
	hidden := &hiding{all: paths.exists() && paths.value.Kind() != lumigl.List}
	for _, path := range paths.elements() {
		if !path.is(lumigl.List) {
			hidden.all = true // Nobody knows what it should have hidden.
			continue
		}
		path.hide() // It may have a key of what it leads to.
		at, v := hidden, attributes.value
		complete := true
		var types []*hiding
		// A path is read to its end, although what is behind a step that leads nowhere says nothing.
		for _, step := range path.elements() {
			name, ok := stepOf(step)
			key, next, there := into(v, name)
			if wrapped, any := dynamic(v); any && complete && !there {
				// What may have any type stands together with it.
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
			t.all = t.all || !complete || v.Len() > 0 // A type has the keys of what is in the value.
		}
		if !complete {
			path.note(SensitiveLoss, "the path does not resolve; everything below its longest known part is secret")
		}
	}
	return hidden
}

// stepOf is the key or the index of a step. An index stands together with its type.
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

// into is a part of a value, with the one way to write its key or index.
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

// dynamic is the value of an attribute that may have any type: there is an object with the value and its type.
func dynamic(v lumigl.Value) (lumigl.Value, bool) {
	value := v.Get("value")
	return value, v.Len() == 2 && value.Exists() && v.Get("type").Exists()
}

// copied hides what the one type that OpenTofu has itself copies: the output of terraform_data is its input, but only the
// input is said to be sensitive.
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

// guess hides the strings that are called as secrets are. State says which attributes the configuration makes sensitive,
// but not which are so by the provider's own word.
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
				continue // There are names in it, and no values.
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

// secretWords are what the names of secrets end with, without what stands between words.
var secretWords = []string{
	"password", "passwd", "passphrase", "secret", "secretstring", "secretbinary", "secretdata", "secretvalue", "token",
	"privatekey", "privatekeypem", "privatekeypempkcs8", "privatekeyopenssh", "secretkey", "accesskey", "apikey",
	"credentials", "connectionstring",
}

var betweenWords = strings.NewReplacer("_", "", "-", "", ".", "")

// secretly reports whether a value is a string that is called as secrets are.
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

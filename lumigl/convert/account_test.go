package convert_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/internal/jsonpointer"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/convert"
)

// leaf is a string or a number in a source, with its position.
type leaf struct{ pointer, key, text string }

func leaves(v lumigl.Value, pointer, key string, found func(leaf)) {
	for i, e := range v.Elements() {
		leaves(e, pointer+"/"+strconv.Itoa(i), key, found)
	}
	for k, m := range v.Members() {
		leaves(m, jsonpointer.Within(pointer, k), k, found)
	}
	if text, ok := v.Text(); ok && text != "" {
		found(leaf{pointer, key, text})
	}
	if literal, ok := v.Literal(); ok {
		found(leaf{pointer, key, literal})
	}
}

// accounted returns the leaves that are neither in the snapshot nor covered by a loss. It searches for their text,
// independently of the converter's accounting.
func accounted(src string, result *convert.Result, structural func(leaf) bool) (missing []string) {
	root, err := lumigl.Parser{}.ParseValue(src)
	if err != nil {
		return []string{err.Error()}
	}
	again, err := lumigl.Parser{}.ParseValue(textOf(result))
	if err != nil {
		return []string{err.Error()}
	}
	kept := map[string]bool{}
	var urns strings.Builder
	leaves(again, "", "", func(l leaf) { kept[l.text] = true; urns.WriteString(l.text + "\n") })
	for key := range again.Get("resources").Members() {
		urns.WriteString(key + "\n")
	}
	lost := map[string]bool{}
	for _, l := range result.Losses {
		lost[l.Pointer()] = true
	}
	leaves(root, "", "", func(l leaf) {
		if kept[l.text] || structural(l) || strings.Contains(urns.String(), l.text) {
			return
		}
		for p := l.pointer; ; p = p[:strings.LastIndexByte(p, '/')] {
			if lost[p] {
				return
			}
			if p == "" {
				break
			}
		}
		missing = append(missing, l.pointer+" "+l.text)
	})
	return missing
}

// operationKind matches pointers to the kinds of pending operations, which have other names in snapshots.
var operationKind = regexp.MustCompile("/pending_operations/[0-9]+/type$")

// blockAddress matches pointers to addresses of resource blocks. In snapshots, dependsOn lists the instances of a block
// instead.
var blockAddress = regexp.MustCompile("/instances/[0-9]+/(dependencies|depends_on)/[0-9]+$")

// structural reports whether the snapshot need not contain a leaf because it only describes other leaves.
func structural(l leaf) bool {
	switch {
	case strings.Contains(l.pointer, "/sensitive_attributes/"), operationKind.MatchString(l.pointer):
		return true
	case strings.Contains(l.pointer, "/customTimeouts/"), blockAddress.MatchString(l.pointer):
		return true
	case l.text == "3fe0000000000000":
		return true // 0.5
	case l.text == "w6k=":
		return true // é
	}
	switch l.key {
	case "index_key":
		return true // quoted in the name
	case "mode", "plaintext", "ciphertext", "ref", "reftag", lumiSignature:
		return true
	case "version":
		return strings.Count(l.pointer, "/") == 1
	}
	return false
}

const lumiSignature = "4dabf18193072939515e22adb298388d"

func TestNoSilentLoss(t *testing.T) {
	for _, name := range sources(t) {
		src := read(t, name)
		result, err := convert.Convert(src, convert.Options{})
		if err != nil {
			continue
		}
		for _, m := range accounted(src, result, structural) {
			t.Errorf("Convert(%s): %s is neither used nor reported", name, m)
		}
	}
}

// TestUnknownKeys adds an unknown key to each object in the files, one at a time. The key must be in a part of the
// snapshot that allows any key, or be reported at its position.
func TestUnknownKeys(t *testing.T) {
	for _, file := range examples(t) {
		name, root := file.name, file.root
		for i := range objects(root) {
			at := -1
			pointer := ""
			changed := text(insert(root, "", i, &at, &pointer))
			result, err := convert.Convert(changed, convert.Options{})
			if err != nil {
				t.Fatalf("Convert(%s) with a key added to object %d: %s", name, i, err)
			}
			valid(t, result)
			if strings.Contains(textOf(result), "unheard-of value") {
				continue
			}
			found := false
			for _, l := range result.Losses {
				found = found || l.Pointer() == pointer+"/unheard-of" || within(pointer, l.Pointer())
			}
			if !found {
				t.Errorf("Convert(%s): %s/unheard-of is neither used nor reported", name, pointer)
			}
		}
	}
}

// within reports whether a loss at the pointer loss covers the given pointer.
func within(pointer, loss string) bool {
	return loss != "" && (pointer == loss || strings.HasPrefix(pointer, loss+"/"))
}

func objects(v lumigl.Value) int {
	n := 0
	if v.Kind() == lumigl.Object {
		n++
	}
	for _, e := range v.Elements() {
		n += objects(e)
	}
	for _, m := range v.Members() {
		n += objects(m)
	}
	return n
}

func TestWrongShapes(t *testing.T) {
	others := []string{`null`, `"other-text"`, `[]`, `{}`, `1234567`, `true`, `["other-element"]`, `{"other-key": "other-value"}`}
	for _, name := range sources(t) {
		root, err := lumigl.Parser{}.ParseValue(read(t, name))
		if err != nil {
			continue
		}
		for i := range values(root) {
			other, _ := lumigl.Parser{}.ParseValue(others[i%len(others)])
			at := -1
			changed := text(replace(root, other, i, &at))
			result, err := convert.Convert(changed, convert.Options{})
			if err != nil {
				var refused *convert.RefusedError
				if !errors.As(err, &refused) {
					t.Errorf("Convert(%s) with value %d replaced by %s = %s, want no error or a *RefusedError", name, i, others[i%len(others)], err)
				}
				continue
			}
			valid(t, result)
			for _, l := range result.Losses {
				if l.Pointer() == "" {
					t.Errorf("Convert(%s) with value %d replaced by %s: loss has no position: %s", name, i, others[i%len(others)], l.Message)
				}
			}
			for _, m := range accounted(changed, result, structural) {
				t.Errorf("Convert(%s) with value %d replaced by %s: %s is neither used nor reported", name, i, others[i%len(others)], m)
			}
		}
	}
}

// TestEveryChangeIsVisible makes a small change to each string, number, and boolean in the files, one at a time. The
// snapshot or the losses must change, unless the value or its parent is reported as lost in any case. This includes
// redundant values, which are dropped.
func TestEveryChangeIsVisible(t *testing.T) {
	for _, file := range examples(t) {
		name, root, before := file.name, file.root, file.result
		snapshot, losses := render(before, nil)
		for i := range values(root) {
			at, where := -1, ""
			other, ok := changed(root, different, "", i, &at, &where)
			if !ok {
				continue
			}
			after, err := convert.Convert(text(other), convert.Options{})
			if err != nil {
				continue
			}
			if s, l := render(after, nil); s != snapshot || l != losses {
				continue
			}
			isLost := func(l convert.Loss) bool {
				return (l.Lost() || l.Code == convert.OutputLoss) && within(where, l.Pointer())
			}
			isPath := strings.Contains(where, "/sensitive_attributes/") // the target is a secret in any case
			if !isPath && !slices.ContainsFunc(before.Losses, isLost) {
				t.Errorf("Convert(%s): changing %s has no effect", name, where)
			}
		}
	}
}

// different returns another scalar of the same kind. It returns false if v is not a scalar.
func different(v lumigl.Value) (lumigl.Value, bool) {
	switch v.Kind() {
	case lumigl.Text:
		text, _ := v.Text()
		return lumigl.TextOf(text + "x"), true
	case lumigl.Number:
		n, ok := v.Int()
		return lumigl.IntOf(n + 1), ok
	case lumigl.Bool:
		b, _ := v.Bool()
		return lumigl.BoolOf(!b), true
	}
	return v, false
}

// changed returns v with the value with the given number replaced by the result of to, and stores the pointer to the
// value in where. It returns false if to does.
func changed(v lumigl.Value, to func(lumigl.Value) (lumigl.Value, bool), pointer string, number int, at *int,
	where *string) (lumigl.Value, bool) {
	if *at++; *at == number {
		*where = pointer
		return to(v)
	}
	any := false
	switch v.Kind() {
	case lumigl.List:
		var list []lumigl.Value
		for i, e := range v.Elements() {
			e, ok := changed(e, to, pointer+"/"+strconv.Itoa(i), number, at, where)
			any = any || ok
			list = append(list, e)
		}
		return lumigl.ListOf(list...), any
	case lumigl.Object:
		var members []lumigl.Member
		for k, m := range v.Members() {
			m, ok := changed(m, to, jsonpointer.Within(pointer, k), number, at, where)
			any = any || ok
			members = append(members, lumigl.Member{Key: k, Value: m})
		}
		return lumigl.ObjectOf(members...), any
	}
	return v, false
}

func values(v lumigl.Value) int {
	n := 1
	for _, e := range v.Elements() {
		n += values(e)
	}
	for _, m := range v.Members() {
		n += values(m)
	}
	return n
}

// replace returns v with the value with the given number replaced by other.
func replace(v, other lumigl.Value, number int, at *int) lumigl.Value {
	if *at++; *at == number {
		return other
	}
	switch v.Kind() {
	case lumigl.List:
		var list []lumigl.Value
		for _, e := range v.Elements() {
			list = append(list, replace(e, other, number, at))
		}
		return lumigl.ListOf(list...)
	case lumigl.Object:
		var members []lumigl.Member
		for k, m := range v.Members() {
			members = append(members, lumigl.Member{Key: k, Value: replace(m, other, number, at)})
		}
		return lumigl.ObjectOf(members...)
	}
	return v
}

// insert returns v with a key added to the object with the given number, and stores the pointer to the object in where.
func insert(v lumigl.Value, pointer string, number int, at *int, where *string) lumigl.Value {
	switch v.Kind() {
	case lumigl.List:
		var list []lumigl.Value
		for i, e := range v.Elements() {
			list = append(list, insert(e, pointer+"/"+strconv.Itoa(i), number, at, where))
		}
		return lumigl.ListOf(list...)
	case lumigl.Object:
		*at++
		mine := *at == number
		var members []lumigl.Member
		for k, m := range v.Members() {
			p := jsonpointer.Within(pointer, k)
			members = append(members, lumigl.Member{Key: k, Value: insert(m, p, number, at, where)})
		}
		if mine {
			*where = pointer
			members = append(members, lumigl.Member{Key: "unheard-of", Value: lumigl.TextOf("unheard-of value")})
		}
		return lumigl.ObjectOf(members...)
	}
	return v
}

func text(v lumigl.Value) string {
	g := &lumigl.Graph{Fields: []lumigl.Member{{Key: "v", Value: v}}}
	out, err := lumigl.Append(nil, g)
	if err != nil {
		panic(err)
	}
	_, s, _ := strings.Cut(string(out), `"v":`)
	return s[:strings.LastIndexByte(s, '}')]
}

// TestRandomStates generates states with unique strings. Each string must be in the snapshot or be reported.
func TestRandomStates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := randomState(t)
		result, err := convert.Convert(src, convert.Options{})
		if err != nil {
			t.Fatalf("Convert: %s\n%s", err, src)
		}
		again, err := lumigl.ParseSnapshot(textOf(result))
		if err != nil {
			t.Fatalf("ParseSnapshot: %s\n%s", err, textOf(result))
		}
		if out, err := lumigl.Append(nil, again); err != nil || string(out) != textOf(result) {
			t.Fatalf("the text is not canonical (Append error: %v):\n%s", err, textOf(result))
		}
		if missing := accounted(src, result, structural); len(missing) > 0 {
			t.Fatalf("neither used nor reported: %v\n%s\n%s", missing, src, textOf(result))
		}
		for _, l := range result.Losses {
			if strings.Contains(l.Message, "value-") {
				t.Fatalf("message of the loss at %s reveals a value: %s", l.Pointer(), l.Message)
			}
		}
	})
}

// randomState generates a state or a stack with known and unknown keys.
func randomState(t *rapid.T) string {
	n := 0
	mark := func(what string) string { n++; return strconv.Quote(fmt.Sprintf("%s-%d", what, n)) }
	coin := func(name string) bool { return rapid.Bool().Draw(t, name) }
	var value func(depth int) string
	value = func(depth int) string {
		switch rapid.IntRange(0, 6-min(depth, 3)).Draw(t, "kind") {
		case 0:
			return "null"
		case 1:
			return strconv.Itoa(1000000 + n)
		case 2, 3:
			return mark("value")
		case 4:
			return "[" + value(depth+1) + "," + value(depth+1) + "]"
		case 5:
			return `{"a":` + value(depth+1) + `,"b":` + value(depth+1) + "}"
		}
		return `{"` + lumiSignature + `":"1b47061264138c4ac30d75fd1eb44270","plaintext":` + strconv.Quote(value(3)) + "}"
	}
	optional := func(keys ...string) string {
		var b strings.Builder
		for _, key := range keys {
			if coin(key) {
				fmt.Fprintf(&b, `,%q:%s`, key, value(1))
			}
		}
		return b.String()
	}
	count := rapid.IntRange(0, 4).Draw(t, "resources")
	var resources []string
	if coin("pulumi") {
		for i := range count {
			u := func(i int) string { return fmt.Sprintf("urn:pulumi:s::p::a:b:C::n%d", i) }
			resources = append(resources, fmt.Sprintf(`{"urn":%q,"custom":true,"id":"id-%d","type":"a:b:C","inputs":{"x":%s,"y":"id-%d"},"outputs":{"x":%s},"dependencies":[%q],"propertyDependencies":{"y":[%q]}%s}`,
				u(i), i, value(0), rapid.IntRange(0, 4).Draw(t, "y"), value(0), u(rapid.IntRange(0, 4).Draw(t, "on")), u(rapid.IntRange(0, 4).Draw(t, "by")),
				optional("protect", "parent", "provider", "customTimeouts", "aliases", "external", "future", "initErrors", "created", "delete")))
		}
		return fmt.Sprintf(`{"version":3,"deployment":{"manifest":{},"resources":[%s]%s}%s}`, strings.Join(resources, ","),
			optional("metadata", "secrets_providers", "snippets", "strange", "pending_operations"), optional("features", "other"))
	}
	for i := range count {
		resources = append(resources, fmt.Sprintf(`{"mode":"managed","type":"x_y","name":"n%d"%s,"instances":[{"attributes":{"id":"instance-%d","x":%s,"y":"instance-%d"},"dependencies":["x_y.n%d"]%s}]}`,
			i, optional("provider", "each", "odd", "module"), i, value(0), rapid.IntRange(0, 4).Draw(t, "y"), rapid.IntRange(0, 4).Draw(t, "on"),
			optional("private", "status", "schema_version", "identity", "create_before_destroy", "index_key", "deposed", "sensitive_attributes", "attributes_flat", "more")))
	}
	return fmt.Sprintf(`{"version":4,"terraform_version":"v","resources":[%s]%s}`, strings.Join(resources, ","),
		optional("lineage", "serial", "outputs", "check_results", "other"))
}

func FuzzConvert(f *testing.F) {
	for _, name := range sources(f) {
		f.Add(read(f, name), uint8(0))
	}
	f.Add(`{"version":4,"lineage":"","resources":[{"mode":"managed","type":"a","name":"b","instances":[{"attributes":{"id":"`+lumiSignature+`"}}]}]}`, uint8(3))
	f.Fuzz(func(t *testing.T, src string, choice uint8) {
		if len(src) > 1<<15 {
			t.Skip("long inputs find nothing that short inputs do not")
		}
		options := convert.Options{
			From:       []convert.Format{"", convert.Pulumi, convert.OpenTofu}[choice%4%3],
			ShortTypes: choice&4 != 0, KeepValues: choice&8 != 0,
		}
		if choice&16 != 0 {
			options.Environment, options.Package = "env", "pkg"
		}
		result, err := convert.Convert(src, options)
		if err != nil {
			if err.Error() == "" || strings.Contains(err.Error(), "would not be accepted") {
				t.Fatalf("Convert = %v, want an error with a specific reason", err)
			}
			return
		}
		valid(t, result)
		for _, l := range result.Losses {
			if l.Message == "" || l.Code == "" {
				t.Fatalf("loss has no code or no message: %+v", l)
			}
		}
	})
}

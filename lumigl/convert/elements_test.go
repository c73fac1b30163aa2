package convert_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/internal/jsonpointer"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/convert"
)

// TestUnknownElements appends an unknown element to each list in the files, one at a time. The element must be in the
// snapshot or be reported at its position, but not as an unknown key.
func TestUnknownElements(t *testing.T) {
	added := lumigl.TextOf("unheard-of value")
	for _, file := range examples(t) {
		name, root := file.name, file.root
		for i, element := range []lumigl.Value{added, lumigl.ObjectOf(lumigl.Member{Key: "unheard-of", Value: added}), lumigl.ListOf(added)} {
			for number := 0; ; number++ {
				at, where := -1, ""
				longer := lengthen(root, element, "", number, &at, &where)
				if where == "" {
					break
				}
				result, err := convert.Convert(text(longer), convert.Options{})
				if err != nil {
					t.Fatalf("Convert(%s) with element %d added at %s: %s", name, i, where, err)
				}
				valid(t, result)
				here := func(l convert.Loss) bool { return within(where, l.Pointer()) || within(l.Pointer(), where) }
				if !strings.Contains(textOf(result), "unheard-of value") && !slices.ContainsFunc(result.Losses, here) {
					t.Errorf("Convert(%s): element %d at %s is neither used nor reported", name, i, where)
				}
				for _, l := range result.Losses {
					if l.Pointer() == where && l.Code == convert.UnknownLoss {
						t.Errorf("Convert(%s) reported an element at %s as an unknown key: %s", name, where, l.Message)
					}
				}
			}
		}
	}
}

// lengthen returns v with an element appended to the list with the given number, and stores the pointer to the element
// in where.
func lengthen(v, element lumigl.Value, pointer string, number int, at *int, where *string) lumigl.Value {
	switch v.Kind() {
	case lumigl.List:
		*at++
		mine := *at == number
		var list []lumigl.Value
		for i, e := range v.Elements() {
			list = append(list, lengthen(e, element, pointer+"/"+strconv.Itoa(i), number, at, where))
		}
		if mine {
			*where = pointer + "/" + strconv.Itoa(len(list))
			list = append(list, element)
		}
		return lumigl.ListOf(list...)
	case lumigl.Object:
		var members []lumigl.Member
		for k, m := range v.Members() {
			members = append(members, lumigl.Member{Key: k, Value: lengthen(m, element, jsonpointer.Within(pointer, k), number, at, where)})
		}
		return lumigl.ObjectOf(members...)
	}
	return v
}

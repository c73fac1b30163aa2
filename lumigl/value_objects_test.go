package lumigl_test

import (
	"fmt"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/lumigl"
)

func ExampleObjectBuilder() {
	var tags lumigl.ObjectBuilder
	for i, owner := range []string{"web", "data", "web"} {
		tags.Set(owner, lumigl.IntOf(int64(i)))
	}
	g := &lumigl.Graph{}
	v, err := g.Add("bucket")
	if err != nil {
		fmt.Println(err)
		return
	}
	v.Properties = tags.Object()
	text, err := lumigl.Append(nil, g)
	fmt.Print(string(text), err)
	// Output:
	// {
	//   "vertices": {
	//     "bucket": {
	//       "web": 2,
	//       "data": 1
	//     }
	//   }
	// }
	// <nil>
}

// TestObjectBuilder makes the same changes with a builder and with [lumigl.Value.With] and compares the results after
// each step. Objects returned by earlier steps must not change.
func TestObjectBuilder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b lumigl.ObjectBuilder
		want := lumigl.ObjectOf()
		var before, beforeWant []string
		var objects []lumigl.Value
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			key := strconv.Itoa(rapid.IntRange(0, 30).Draw(t, "key"))
			switch value := lumigl.IntOf(int64(rapid.IntRange(0, 9).Draw(t, "value"))); rapid.IntRange(0, 4).Draw(t, "what") {
			case 0:
				b.Set(key, lumigl.Value{})
				want = want.With(key, lumigl.Value{})
			case 1:
				more := lumigl.ObjectOf(lumigl.Member{Key: key, Value: value}, lumigl.Member{Key: "more", Value: value})
				b.SetAll(more)
				b.SetAll(value)
				want = want.With(key, value).With("more", value)
			default:
				b.Set(key, value)
				want = want.With(key, value)
			}
			if got := b.Get(key); got.Exists() != want.Get(key).Exists() || !got.Equal(want.Get(key)) {
				t.Fatalf("Get(%q) = %v, want %v", key, got, want.Get(key))
			}
			if b.Len() != want.Len() {
				t.Fatalf("Len = %d, want %d", b.Len(), want.Len())
			}
			objects = append(objects, b.Object())
			before, beforeWant = append(before, ordered(b.Object())), append(beforeWant, ordered(want))
		}
		for i := range objects {
			if got := ordered(objects[i]); got != beforeWant[i] || before[i] != beforeWant[i] {
				t.Fatalf("object of step %d = %s, later %s, want %s", i, before[i], got, beforeWant[i])
			}
		}
	})
}

// ordered returns the members of an object as text, in order.
func ordered(v lumigl.Value) string {
	s := ""
	for key, m := range v.Members() {
		literal, _ := m.Literal()
		s += key + "=" + literal + " "
	}
	return s
}

func BenchmarkObject(b *testing.B) {
	for _, n := range []int{10, 1000, 4000} {
		keys := make([]string, n)
		for i := range keys {
			keys[i] = "key-" + strconv.Itoa(i)
		}
		b.Run(fmt.Sprintf("builder/%d", n), func(b *testing.B) {
			for b.Loop() {
				var o lumigl.ObjectBuilder
				for _, key := range keys {
					o.Set(key, lumigl.BoolOf(true))
				}
				o.Object()
			}
		})
		b.Run(fmt.Sprintf("with/%d", n), func(b *testing.B) {
			for b.Loop() {
				v := lumigl.ObjectOf()
				for _, key := range keys {
					v = v.With(key, lumigl.BoolOf(true))
				}
			}
		})
	}
}

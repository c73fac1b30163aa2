package diff

import (
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/lumigl"
)

// freeTag returns a key that marks references in what is written of the documents: that of the new one, unless there is
// data with such a key.
func freeTag(docs ...lumigl.Document) string {
	tag := lumigl.TagOf(docs[len(docs)-1])
	taken := map[string]bool{}
	for _, doc := range docs {
		for _, v := range doc.Base().Fields {
			keysLike(v.Value, tag, taken)
		}
		for v := range doc.Base().Vertices() {
			keysLike(v.Properties, tag, taken)
			keysLike(v.Extensions, tag, taken)
		}
		if s, ok := doc.(*lumigl.Snapshot); ok {
			keysLike(s.Args, tag, taken)
			keysLike(pendingValue(&s.Pending), tag, taken)
		}
	}
	free := tag
	for n := 2; taken[free]; n++ {
		free = tag + strconv.Itoa(n)
	}
	return free
}

// keysLike collects the keys within a value that start with a tag.
func keysLike(v lumigl.Value, tag string, taken map[string]bool) {
	switch v.Kind() {
	case lumigl.List:
		for _, e := range v.Elements() {
			keysLike(e, tag, taken)
		}
	case lumigl.Object:
		for key, e := range v.Members() {
			if strings.HasPrefix(key, tag) {
				taken[key] = true
			}
			keysLike(e, tag, taken)
		}
	}
}

package diff

import "github.com/lumi-idl/lumi/lumigl"

// freeTag returns a key that marks references in output about two documents: the tag of the new one, or another key if
// the data contains that tag.
func freeTag(old, new lumigl.Document) string {
	all := make([]lumigl.Value, 0, 2*(old.Base().Len()+new.Base().Len()))
	for _, doc := range [...]lumigl.Document{old, new} {
		for _, f := range doc.Base().Fields {
			all = append(all, f.Value)
		}
		for v := range doc.Base().Vertices() {
			all = append(all, v.Options, v.Properties, v.Extensions)
		}
		if s, ok := doc.(*lumigl.Snapshot); ok {
			all = append(all, s.Args, pendingValue(&s.Pending))
		}
	}
	both := &lumigl.Snapshot{Pending: lumigl.Pending{Deletes: []*lumigl.Vertex{{Properties: lumigl.ListOf(all...)}}}}
	both.Tag = lumigl.TagOf(new)
	return lumigl.TagOf(both)
}

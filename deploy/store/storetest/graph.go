package storetest

import "github.com/lumi-idl/lumi/deploy/store"

func vertices(t *T) {
	e := t.environment("dev")
	t.fill("other")
	puts := func(put []store.Vertex, gone ...string) {
		t.Helper()
		t.write(func(tx store.Tx) error { return tx.PutVertices("dev", put, gone) })
	}
	puts([]store.Vertex{{Key: "b", Text: "1"}, {Key: "a", Text: "2"}, {Key: "é", Text: "3"}, {Key: "B", Text: "4"}})
	puts([]store.Vertex{{Key: "aa", Text: "5"}, {Key: "b", Text: "6"}}, "a", "none", "key")
	puts(nil)
	want(t, []store.Vertex{{Key: "B", Text: "4"}, {Key: "aa", Text: "5"}, {Key: "b", Text: "6"}, {Key: "é", Text: "3"}},
		func(tx store.Tx) ([]store.Vertex, error) { return tx.Vertices("dev") })
	for _, test := range []struct {
		from  string
		limit int
		want  string
	}{{"", 9, "Baabé"}, {"aa", 2, "aab"}, {"aa\x01", 1, "b"}, {"c", 9, "é"}, {"é\x01", 1, ""}, {"", 0, ""}} {
		want(t, test.want, func(tx store.Tx) (keys string, err error) {
			found, err := tx.VerticesFrom("dev", test.from, test.limit)
			for _, v := range found {
				keys += v.Key
			}
			return keys, err
		})
	}
	e.Serial += 3
	want(t, e, func(tx store.Tx) (store.Environment, error) { return tx.Environment("dev") })
	want(t, []store.Vertex{{Key: "key", Text: "other"}}, func(tx store.Tx) ([]store.Vertex, error) { return tx.Vertices("other") })
}

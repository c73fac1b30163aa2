package graph_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestRandomTransitions runs random scripts. After each command, world checks the graph and compares it with the
// previous graph. After all cleanups, every version is reachable from the root, and nothing is pending.
func TestRandomTransitions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var w world
		for range rapid.IntRange(1, 12).Draw(t, "commands") {
			line := randomCommand(t, &w)
			t.Log(line)
			output, err := w.run(line)
			t.Log(output)
			if err != nil {
				t.Fatal(err)
			}
		}
		if w.g == nil {
			return
		}
		for left := true; left; {
			left = false
			for _, module := range w.g.Modules() {
				done := w.g.Cleanup(module)
				left = left || len(done.Graph.Versions(module)) < len(w.g.Versions(module)) || len(done.Deleted) > 0
				w.g = done.Graph
			}
		}
		if left := pending(w.g); len(left) > 0 {
			t.Fatalf("%s is pending, but no cleanup deletes it", left[0].Resource.Key())
		}
		for v := range versions(w.g) {
			if !v.Partial && !slices.Contains(w.g.Kept(v.Module), v) {
				t.Fatalf("%s is unreachable, but no cleanup removes it", v)
			}
		}
	})
}

func randomCommand(t *rapid.T, w *world) string {
	module := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "module")
	switch command := rapid.IntRange(0, 19).Draw(t, "command"); {
	case command == 0:
		return "destroy " + module
	case command < 3:
		return "cleanup " + module
	case command == 3 && w.last != nil && len(w.last.Deleted) > 0:
		return "leave " + module
	case command < 6:
		items := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"+x", "+y", "x!", "y-", "z!", "z-", "+z"}), 1, 3, func(s string) byte {
			return strings.Trim(s, "+-!")[0]
		}).Draw(t, "results")
		return "fail " + module + " " + strings.Join(items, " ")
	}
	return "deploy " + module + " " + strings.Join(randomItems(t, w, module), " ")
}

func randomItems(t *rapid.T, w *world, module string) []string {
	var items, names []string
	held := func(name string) bool {
		newest := w.newest(module)
		return newest != nil && newest.Resource(urnOf(module, name)) != nil
	}
	for _, name := range []string{"x", "y", "z"} {
		if !rapid.Bool().Draw(t, "held") {
			continue
		}
		list := ""
		if len(names) > 0 && rapid.Bool().Draw(t, "depends") {
			list = "(" + rapid.SampledFrom(names).Draw(t, "on") + ")"
		}
		if other := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "refers to"); list == "" && other != module {
			if used := w.newest(other); used != nil && used.Len() > 0 {
				to := rapid.SampledFrom(slices.Collect(used.Resources())).Draw(t, "referent")
				list = "(" + other + rapid.SampledFrom([]string{".", "~"}).Draw(t, "how") + to.URN.Name() + ")"
			}
		}
		item := name + rapid.SampledFrom([]string{"", "", "", "!", "^", "*"}).Draw(t, "how")
		if was := "m" + name; rapid.IntRange(0, 4).Draw(t, "moves") == 0 && held(name) && !held(was) {
			if item, name = name+">"+was, was; rapid.Bool().Draw(t, "another takes its name") {
				names, items = append(names, was[1:]), append(items, was[1:]+"*")
			}
		} else if held(was) && !held(name) && rapid.Bool().Draw(t, "moves back") {
			item = was + ">" + name
		}
		names = append(names, name)
		items = append(items, item+list)
	}
	for _, value := range []string{"v", "w"} {
		switch source := rapid.IntRange(0, 3).Draw(t, "provides"); {
		case source == 0:
			items = append(items, "="+value+"("+rapid.SampledFrom([]string{"", "p", "pq"}).Draw(t, "request")+")")
		case source < 3 && len(names) > 0:
			items = append(items, fmt.Sprintf("=%s:%s", value, rapid.SampledFrom(names).Draw(t, "source")))
		}
	}
	for other := 'a'; other < 'd'; other++ {
		if used := w.newest(string(other)); used != nil && string(other) != module && rapid.Bool().Draw(t, "uses") {
			for _, p := range used.Provides {
				form := ""
				if p.Type.Form.Get("verb").Exists() {
					form = "(" + strings.Repeat("p", p.Type.Form.Get("verb").Get("request").Get("object").Len()) + ")"
				}
				items = append(items, fmt.Sprintf("%c.%s%s", other, p.Name, strings.Replace(form, "pp", "pq", 1)))
			}
		}
	}
	if rapid.IntRange(0, 5).Draw(t, "interrupts") == 0 {
		items = append(items, "!"+rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "interrupted"))
	}
	return items
}

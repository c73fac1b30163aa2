package taskgraph

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// File is a file with tasks, for [CheckFiles].
type File struct {
	Name string
	Src  []byte
	// Layer is the number of the layer that the file belongs to. The files of a layer are parts of one graph. Later
	// layers override earlier ones.
	Layer int

	// Graph contains everything that could be parsed, and Errors all errors in source order.
	*Graph
	Errors []Problem
}

// CheckFiles parses files and checks what depends on no environment: each file on its own, and the merged tasks of each
// graph type as [Check] does. If strict is set, synonyms are errors. If a file could not be read at all, CheckFiles
// returns false and does not check the merged tasks.
func CheckFiles(files []*File, strict bool, types func(name string) (func(parameters map[string]any) []string, bool)) (complete bool) {
	byType, graphTypes := map[string][]*File{}, []string{}
	complete = true
	for _, f := range files {
		p := &parser{}
		_, _ = p.parse(f.Src, f.Name, p.graph) // the error only repeats the problems
		f.Graph, f.Errors = &p.Graph, p.Problems
		complete = complete && (f.Tasks != nil || f.Errors == nil)
		for _, s := range f.Synonyms {
			if strict {
				f.Errors = append(f.Errors, s.Problem())
			}
		}
		t := cmp.Or(f.Type, DefaultType)
		byType[t] = append(byType[t], f)
		if len(byType[t]) == 1 {
			graphTypes = append(graphTypes, t)
		}
	}
	for _, t := range graphTypes {
		checkDuplicates(byType[t])
		if complete {
			checkMerged(byType[t], types)
		}
	}
	for _, f := range files {
		f.Errors = f.Locate(f.Errors)
	}
	return complete
}

// checkDuplicates reports tasks that several files of a layer contain.
func checkDuplicates(files []*File) {
	type task struct {
		layer int
		id    string
	}
	first := map[task]*File{}
	for _, f := range files {
		for _, t := range f.Tasks {
			other := cmp.Or(first[task{f.Layer, t.ID}], f)
			if first[task{f.Layer, t.ID}] = other; other != f {
				f.Errors = append(f.Errors, Problem{Task: t.ID, Attribute: "id", Message: fmt.Sprintf(
					"duplicate task, first defined in %s:%d", other.Name, entry(other.nodes[t.ID], "id").Line)})
			}
		}
	}
}

func checkMerged(files []*File, types func(string) (func(map[string]any) []string, bool)) {
	var layers []Layer
	for i, f := range files {
		layers = append(layers, Layer{Name: strconv.Itoa(i), Tasks: f.Tasks})
	}
	_, err := Check(Merge(layers, false), types)
	wrong, failed := errors.AsType[*Error](err)
	if !failed {
		return
	}
	for _, p := range wrong.Problems {
		i, _ := strconv.Atoi(p.Layer) // a problem of no task is reported for the first file
		p.Layer = ""
		isKnown := slices.ContainsFunc(files[i].Errors, func(known Problem) bool { return known.Task == p.Task && known.Message == p.Message })
		if !isKnown {
			files[i].Errors = append(files[i].Errors, p)
		}
	}
}

package taskgraph

import (
	"maps"
	"slices"
)

// Layer is a graph to be merged.
type Layer struct {
	// Name says whose graph it is, such as "release shop 1.2".
	Name  string
	Tasks []Task
}

// Effective is what layers make together.
type Effective struct {
	// Tasks are in the order in which the layers first name them.
	Tasks []Task
	// origins has the layer of each attribute of each task.
	origins map[string]map[string]string
}

// Merge merges layers, of which later ones override earlier ones: attribute by attribute or, if whole is set, task by task.
func Merge(layers []Layer, whole bool) *Effective {
	e := &Effective{origins: map[string]map[string]string{}}
	at := map[string]int{}
	for _, l := range layers {
		for _, t := range l.Tasks {
			i, found := at[t.ID]
			if !found {
				i = len(e.Tasks)
				at[t.ID] = i
				e.Tasks = append(e.Tasks, Task{ID: t.ID})
			}
			if !found || whole {
				e.Tasks[i].Attributes, e.origins[t.ID] = map[string]any{}, map[string]string{}
			}
			for _, name := range slices.Sorted(maps.Keys(t.Attributes)) {
				e.Tasks[i].Attributes[name] = t.Attributes[name]
				e.origins[t.ID][name] = l.Name
			}
		}
	}
	return e
}

// Origin returns the name of the layer that an attribute comes from, or "".
func (e *Effective) Origin(task, attribute string) string { return e.origins[task][attribute] }

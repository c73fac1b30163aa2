package taskgraph

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Layer is a graph to be merged.
type Layer struct {
	// Name identifies the layer, such as "release shop 1.2".
	Name  string
	Tasks []Task
	// origins maps attributes to the names of layers, by task, if the layer is itself the result of a merge.
	origins map[string]map[string]string
}

// Effective is the result of merging graphs.
type Effective struct {
	// Tasks are ordered by first occurrence in the layers.
	Tasks []Task
	// Origins contains the name of the layer that sets each attribute, by task and attribute. The origin of "id" is the
	// layer that adds the task.
	Origins map[string]map[string]string
}

// Origin returns the name of the layer that sets an attribute, or "".
func (e *Effective) Origin(task, attribute string) string { return e.Origins[task][attribute] }

// synonyms maps attributes to the attributes that they override.
var synonyms = map[string]string{"roles": "groups", "groups": "roles"}

// Merge merges layers. Later layers override earlier ones, task by task if whole is set, or else attribute by
// attribute.
func Merge(layers []Layer, whole bool) *Effective {
	e := &Effective{Origins: map[string]map[string]string{}}
	at := map[string]int{}
	for _, l := range layers {
		for _, t := range l.Tasks {
			i, found := at[t.ID]
			if !found {
				i = len(e.Tasks)
				at[t.ID], e.Tasks = i, append(e.Tasks, Task{ID: t.ID})
			}
			if !found || whole {
				e.Tasks[i].Attributes, e.Origins[t.ID] = map[string]any{}, map[string]string{"id": l.origin(t.ID, "id")}
			}
			attributes, origins := e.Tasks[i].Attributes, e.Origins[t.ID]
			for name := range t.Attributes {
				delete(attributes, synonyms[name])
				delete(origins, synonyms[name])
			}
			for name, v := range t.Attributes {
				attributes[name], origins[name] = v, l.origin(t.ID, name)
			}
		}
	}
	return e
}

func (l Layer) origin(task, attribute string) string {
	return cmp.Or(l.origins[task][attribute], l.Name)
}

// MergePlugins merges the layers of plugins, which do not override each other. It returns an *[Error] that lists all
// attributes with conflicting values.
func MergePlugins(plugins []Layer) (Layer, error) {
	type given struct {
		v     any
		layer string
	}
	first := map[[2]string]given{}
	var problems []Problem
	for _, l := range plugins {
		for _, t := range l.Tasks {
			for _, name := range t.Names() {
				at := [2]string{t.ID, name}
				if name == "groups" {
					at[1] = synonyms[name]
				}
				if before, found := first[at]; !found {
					first[at] = given{t.Attributes[name], l.Name}
				} else if !reflect.DeepEqual(before.v, t.Attributes[name]) {
					problems = append(problems, Problem{Task: t.ID, Attribute: name, Message: fmt.Sprintf(
						"%s and %s have different values for %s; remove one of them", before.layer, l.Name, name)})
				}
			}
		}
	}
	if problems != nil {
		return Layer{}, &Error{Problems: problems}
	}
	e := Merge(plugins, false)
	return Layer{Name: "plugins", Tasks: e.Tasks, origins: e.Origins}, nil
}

// Change is the addition, removal, or modification of a task.
type Change struct {
	// Old is nil for an added task. New is nil for a removed task.
	Old, New *Task
	// Attributes lists the attributes that differ, in canonical order.
	Attributes []string
}

// Diff returns the added and changed tasks in the order of after, followed by the removed tasks.
func Diff(before, after []Task) []Change {
	old := map[string]*Task{}
	for i := range before {
		old[before[i].ID] = &before[i]
	}
	var changes []Change
	for i := range after {
		t := &after[i]
		c := Change{Old: old[t.ID], New: t, Attributes: t.Names()}
		if c.Old != nil {
			c.Attributes = differing(c.Old.Attributes, t.Attributes)
		}
		if c.Old == nil || len(c.Attributes) > 0 {
			changes = append(changes, c)
		}
		delete(old, t.ID)
	}
	for i := range before {
		if t := &before[i]; old[t.ID] == t {
			changes = append(changes, Change{Old: t, Attributes: t.Names()})
		}
	}
	return changes
}

// differing returns the names of attributes that differ, in canonical order.
func differing(a, b map[string]any) []string {
	both := Task{Attributes: map[string]any{}}
	maps.Copy(both.Attributes, a)
	maps.Copy(both.Attributes, b)
	return slices.DeleteFunc(both.Names(), func(name string) bool {
		old, had := a[name]
		v, has := b[name]
		return had == has && reflect.DeepEqual(old, v)
	})
}

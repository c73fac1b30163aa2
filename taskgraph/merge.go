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
	// origins maps attributes to layer names if the layer is itself merged.
	origins map[string]map[string]string
}

// Effective is a merged graph.
type Effective struct {
	// Tasks are ordered by first occurrence in the layers.
	Tasks []Task
	// Origins holds the name of the layer that sets each attribute, by task and attribute. The origin of "id" is the
	// layer that adds the task.
	Origins map[string]map[string]string
}

// Origin returns the name of the layer that sets an attribute, or "".
func (e *Effective) Origin(task, attribute string) string { return e.Origins[task][attribute] }

// synonyms maps attributes that override each other.
var synonyms = map[string]string{"roles": "groups", "groups": "roles"}

// Merge merges layers; later ones override earlier ones, attribute by attribute or, if whole is set, task by task.
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

// MergePlugins merges plugin layers, none of which overrides another. It returns an *[Error] listing each attribute
// with conflicting values.
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

// Change is an added, removed, or changed task.
type Change struct {
	// Old is nil for an added task, New for a removed one.
	Old, New *Task
	// Attributes lists the differing attributes in canonical order.
	Attributes []string
}

// Diff returns added and changed tasks in the order of the new graph, followed by removed ones.
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

// differing returns the names of differing attributes in canonical order.
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

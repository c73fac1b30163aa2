package server

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/lumi-idl/lumi/docs/schema"
	"github.com/lumi-idl/lumi/taskgraph"
)

// Task names the component that describes tasks.
type Task struct{}

// describeTasks describes tasks in the OpenAPI document by the definitions of the JSON Schema of files with tasks, without
// the synonyms of attributes, which stored tasks do not have.
func describeTasks(schemas huma.Registry) {
	var file struct {
		Defs map[string]map[string]any `json:"$defs"`
	}
	if err := json.Unmarshal(schema.Tasks, &file); err != nil {
		panic(err) // cannot fail, since the schema is part of the program
	}
	task := file.Defs["task"]
	properties := task["properties"].(map[string]any)
	known := append(taskgraph.Attributes(), "id")
	maps.DeleteFunc(properties, func(name string, _ any) bool { return !slices.Contains(known, name) })
	task["allOf"] = slices.DeleteFunc(task["allOf"].([]any), func(rule any) bool {
		isSynonym := func(name any) bool { return properties[name.(string)] == nil }
		return slices.ContainsFunc(rule.(map[string]any)["not"].(map[string]any)["required"].([]any), isSynonym)
	})
	properties["_id"] = map[string]any{"type": "integer", "format": "int64", "description": "The ID of the stored task.", "readOnly": true}
	properties["_warnings"] = map[string]any{
		"type": "array", "items": schemas.Schema(reflect.TypeFor[taskgraph.Problem](), true, ""), "readOnly": true,
		"description": "In answers to uploads of tasks: attributes that are kept, but look like typos.",
	}
	delete(file.Defs, "tasks")
	for name, def := range file.Defs {
		schemas.Map()[componentOf(name)] = &huma.Schema{Extensions: converted(def).(map[string]any)}
	}
}

// componentOf returns the name of the component for a definition.
func componentOf(definition string) string {
	if definition == "task" {
		return "Task"
	}
	return "Task" + strings.ToUpper(definition[:1]) + definition[1:]
}

// converted replaces references to definitions by references to components, and conditions, which generators of code
// ignore, by alternatives.
func converted(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = converted(v[i])
		}
	case map[string]any:
		if v["if"] != nil {
			return map[string]any{"anyOf": []any{converted(v["then"]), converted(v["else"])}}
		}
		for key := range v {
			v[key] = converted(v[key])
		}
		if ref, ok := v["$ref"].(string); ok {
			v["$ref"] = "#/components/schemas/" + componentOf(strings.TrimPrefix(ref, "#/$defs/"))
		}
	}
	return v
}

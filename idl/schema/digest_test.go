package schema_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/idl/schema"
)

// TestDigest changes every field of every part of a model, one at a time, and holds that the digest changes with each
// but for positions. So no field that is added to the model can be forgotten.
func TestDigest(t *testing.T) {
	model, err := os.ReadFile("testdata/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	p, err := schema.Read(strings.NewReader(string(model)))
	if err != nil {
		t.Fatal(err)
	}
	before := p.Digest()
	changed := 0
	eachField(reflect.ValueOf(p), "package", map[any]bool{}, func(path string, field reflect.Value) {
		undo := reflect.ValueOf(field.Interface())
		switch field.Kind() {
		case reflect.String:
			field.SetString(field.String() + "x")
		case reflect.Bool:
			field.SetBool(!field.Bool())
		case reflect.Slice:
			field.Set(field.Slice(0, field.Len()-1))
		case reflect.Interface:
			switch value := field.Interface().(type) {
			case schema.Type:
				field.Set(reflect.ValueOf(&schema.List{Elem: value}))
			case uint64:
				field.Set(reflect.ValueOf(int64(7)))
			case float64:
				field.Set(reflect.ValueOf(-value))
			default:
				t.Fatalf("%s holds a %T: say how to change it", path, value)
			}
		default:
			t.Fatalf("%s is a %s: say how to change it", path, field.Type())
		}
		if p.Digest() == before {
			t.Errorf("the digest does not depend on %s", path)
		}
		field.Set(undo)
		changed++
	})
	if p.Digest() != before || changed < 50 {
		t.Errorf("the test changed %d fields, and left something behind", changed)
	}
}

// eachField visits the fields of a model that mean something, but not those that Link computes.
func eachField(v reflect.Value, path string, seen map[any]bool, visit func(string, reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !seen[v.Interface()] {
			seen[v.Interface()] = true
			eachField(v.Elem(), path, seen, visit)
		}
	case reflect.Interface:
		if !v.IsNil() {
			eachField(v.Elem(), path, seen, visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachField(v.Index(i), path, seen, visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			at := path + "." + v.Type().Name() + "." + name
			switch {
			case name == "File" || name == "Module" || name == "Imports" || name == "Decl" || name == "Pos":
			case name == "Header":
				eachField(v.Field(i), at, seen, visit)
			case v.Field(i).Kind() == reflect.Slice && v.Field(i).Len() == 0:
			default:
				if v.Field(i).Kind() != reflect.Pointer {
					visit(at, v.Field(i))
				}
				eachField(v.Field(i), at, seen, visit)
			}
		}
	}
}

package schema

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// strictly rejects unknown members. Types are decoded as [typeJSON] values until all declarations are known.
var strictly = json.JoinOptions(json.RejectUnknownMembers(true),
	json.WithUnmarshalers(json.UnmarshalFromFunc(func(dec *jsontext.Decoder, t *Type) error {
		form := &typeJSON{}
		*t = form
		return json.UnmarshalDecode(dec, form)
	})))

// strict decodes a JSON value into target. Package encoding/json takes three times as long for a whole schema.
func strict(data []byte, target any) error { return json.Unmarshal(data, target, strictly) }

// members decodes some members of an object into targets, and reads no further than the last of them.
func members(data []byte, targets map[string]any) error {
	dec := jsontext.NewDecoder(bytes.NewBuffer(data))
	if dec.PeekKind() != '{' {
		return json.UnmarshalDecode(dec, &struct{}{})
	}
	_, err := dec.ReadToken()
	for found := 0; err == nil && found < len(targets) && dec.PeekKind() == '"'; {
		var name jsontext.Token
		if name, err = dec.ReadToken(); err != nil {
			break
		}
		if target := targets[name.String()]; target != nil {
			err = json.UnmarshalDecode(dec, target)
			found++
		} else {
			err = dec.SkipValue()
		}
	}
	return err
}

// located adds the line and column to an error of package json.
func located(data []byte, err error) error {
	var offset int64
	var syntax *jsontext.SyntacticError
	var mismatch *json.SemanticError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.ByteOffset
	case errors.As(err, &mismatch):
		offset = mismatch.ByteOffset
	default:
		return err
	}
	before := data[:min(offset, int64(len(data)))]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return fmt.Errorf("line %d, column %d: %w", line, column, plain(err))
}

// plain rewrites an error of package json in terms of JSON. It returns other errors unchanged.
func plain(err error) error {
	var syntax *jsontext.SyntacticError
	var mismatch *json.SemanticError
	if errors.As(err, &syntax) {
		return syntax.Err
	}
	if !errors.As(err, &mismatch) {
		return err
	}
	member := mismatch.JSONPointer.LastToken()
	if errors.Is(mismatch.Err, json.ErrUnknownName) {
		return fmt.Errorf("unknown member %q", member)
	}
	want := "integer"
	switch kind := mismatch.GoType.Kind(); kind {
	case reflect.Struct:
		want = "object"
	case reflect.Slice:
		want = "array"
	case reflect.Float64:
		want = "number"
	case reflect.Uint64:
		want = "non-negative integer"
	case reflect.Bool, reflect.String:
		want = kind.String()
	}
	if member != "" {
		member += ": "
	}
	got := map[jsontext.Kind]string{
		'n': "null", 'f': "boolean", 't': "boolean", '"': "string", '0': "number", '{': "object", '[': "array",
	}[mismatch.JSONKind]
	if mismatch.JSONKind == '0' && len(mismatch.JSONValue) > 0 {
		got = string(mismatch.JSONValue)
	}
	return fmt.Errorf("%sexpected %s, got %s", member, want, got)
}

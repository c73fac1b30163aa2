package run_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// latest is the provider of the function Latest. Its result "value" is the argument "of", followed by the last one of the
// command "result", and "secret" is a secret. It fails while that is "fails", and once if that is "once".
type latest struct {
	lumi.ResourceProvider
	w *world
}

// Describe implements [lumi.ResourceProvider] and [lumi.Function].
func (latest) Describe(context.Context) (*lumi.Description, error) {
	return &lumi.Description{Type: "sim:index:Latest", Function: true, Properties: []lumi.Property{
		{Name: "of", Kind: lumi.KindAny}, {Name: "value", Kind: lumi.KindString, Flags: lumi.Out},
		{Name: "secret", Kind: lumi.KindString, Flags: lumi.Out | lumi.Secret},
	}}, nil
}

// Call implements [lumi.Function].
func (l latest) Call(_ context.Context, r *lumi.CallRequest) (*lumi.CallResponse, error) {
	of := r.Arguments.Struct().GetFields()["of"].GetStringValue()
	for u, to := range r.References {
		of = strings.ReplaceAll(of, string(u), string(to.ID))
	}
	l.w.log.add(l.w, "latest", "· Call Latest of %s", of)
	result, _ := l.w.result.Load().(string)
	switch result {
	case "once":
		l.w.result.Store("")
		return nil, &lumi.RetryError{Err: errors.New("too many calls")}
	case "fails":
		return nil, errors.New("no such version")
	}
	value := structpb.NewStringValue(fmt.Sprintf("%s-%s", of, result))
	return &lumi.CallResponse{Results: lumi.BagOf(&structpb.Struct{Fields: map[string]*structpb.Value{
		"value": value, "secret": lumi.NewSecret(value),
	}})}, nil
}

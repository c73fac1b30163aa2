package secrets

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/test/bench/machine"
)

const few, many = 1_000, 8_000

func BenchmarkSecrets(b *testing.B) {
	p := machine.NewServerProvider(servers{})
	check := func(bag *structpb.Struct) error {
		_, err := p.Check(context.Background(), &lumi.CheckRequest{Properties: lumi.BagOf(bag)})
		return err
	}
	inspect := func(bag *structpb.Struct) error {
		_, err := p.InspectChange(context.Background(), &lumi.InspectChangeRequest{
			Old: lumi.BagOf(known(serverBag("addresses", list(0, "old")))), New: lumi.BagOf(bag),
		})
		return err
	}
	for _, test := range []struct {
		name, property string
		value          func(n int) *structpb.Value
		call           func(bag *structpb.Struct) error
	}{
		{"list", "addresses", func(n int) *structpb.Value { return list(n, "address") }, check},
		{"keys", "tags", func(n int) *structpb.Value { return keys(n, "key ") }, check},
		{"dots", "tags", func(n int) *structpb.Value { return keys(1, strings.Repeat(".", 100*n)) }, check},
		{"changes", "addresses", func(n int) *structpb.Value { return list(n, "address") }, inspect},
	} {
		b.Run(test.name, func(b *testing.B) {
			bags := []*structpb.Struct{
				serverBag(test.property, test.value(few)), serverBag(test.property, test.value(many)),
			}
			took := make([]time.Duration, len(bags))
			for b.Loop() {
				for i, bag := range bags {
					start := time.Now()
					if err := test.call(bag); err != nil {
						b.Fatal(err)
					}
					took[i] += time.Since(start)
				}
			}
			b.ReportMetric(0, "ns/op") // the sum of both calls is meaningless
			b.ReportMetric(float64(took[0].Microseconds())/float64(b.N), "µs/1000")
			b.ReportMetric(float64(took[1].Microseconds())/float64(b.N), "µs/8000")
			b.ReportMetric(took[1].Seconds()/took[0].Seconds(), "growth")
		})
	}
}

func serverBag(property string, v *structpb.Value) *structpb.Struct {
	text, number := structpb.NewStringValue("x"), structpb.NewNumberValue(1)
	return &structpb.Struct{Fields: map[string]*structpb.Value{
		"name": text, "image": text, "zone": text, "owner": text, "cores": number, "memory": number,
		"public": structpb.NewBoolValue(true), "monitored": structpb.NewBoolValue(true), "kernel": lumi.NewUnknown(),
		property: v,
	}}
}

// known removes the unknown kernel from bag, since an existing resource has no unknown values.
func known(bag *structpb.Struct) *structpb.Struct {
	delete(bag.Fields, machine.Server_Kernel)
	return bag
}

// list returns a list of n secret strings that start with text.
func list(n int, text string) *structpb.Value {
	values := make([]*structpb.Value, n)
	for i := range values {
		values[i] = lumi.NewSecret(structpb.NewStringValue(fmt.Sprint(text, i)))
	}
	return structpb.NewListValue(&structpb.ListValue{Values: values})
}

// keys returns a map of n secrets whose keys start with key.
func keys(n int, key string) *structpb.Value {
	fields := make(map[string]*structpb.Value, n)
	for i := range n {
		fields[fmt.Sprint(key, i)] = lumi.NewSecret(structpb.NewStringValue("x"))
	}
	return structpb.NewStructValue(&structpb.Struct{Fields: fields})
}

// servers is a provider whose Check moves a secret and queries every tag, and whose InspectChange replaces the server on
// any change to a list.
type servers struct{}

type state = lumi.State[*machine.Properties]

func (servers) Check(_ context.Context, want *state) error {
	for key := range want.Properties.Tags {
		want.Unknown.Has(lumi.Path(machine.Server_Tags).Key(key))
	}
	if all := want.Properties.Addresses; len(all) > 1 {
		all[0], all[1] = all[1], all[0]
	}
	return nil
}

func (servers) InspectChange(_ context.Context, _, want *state, diff *lumi.Diff) error {
	for i := range want.Properties.Addresses {
		diff.Replace(lumi.Path(machine.Server_Addresses).Index(i))
	}
	if diff.Empty() || diff.String() == "" {
		return fmt.Errorf("nothing changes")
	}
	return nil
}

func (servers) Create(context.Context, *state) (lumi.ID, error) { return "id", nil }

func (servers) Get(context.Context, lumi.ID, *state) (*machine.Properties, error) {
	return nil, lumi.ErrNotFound
}

func (servers) Update(context.Context, *state, *state, *lumi.Diff) error { return nil }

func (servers) Delete(context.Context, *state) error { return nil }

package property

import (
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

const serverJSON = `{
	"name": "web", "image": "debian", "zone": "b", "owner": "me", "kernel": "6.1", "user": "root",
	"cores": 4, "memory": 16, "swap": 2, "public": true, "monitored": false, "spot": true,
	"disks": [{"device": "sda", "size": 100, "fast": true}, {"device": "sdb", "size": 500}, {"device": "sdc", "size": 1}],
	"tags": {"team": "web", "cost": "low", "stage": "test"}, "addresses": ["10.0.0.1", "10.0.0.2"]
}`

func BenchmarkX(b *testing.B) {
	s := &structpb.Struct{}
	if err := s.UnmarshalJSON([]byte(serverJSON)); err != nil {
		b.Fatal(err)
	}
	data, _ := proto.MarshalOptions{Deterministic: true}.Marshal(s)
	x, err := Parse(data)
	if err != nil || !proto.Equal(x.Struct(), s) {
		b.Fatal("differ")
	}
	y := &structpb.Struct{}
	d := Append(nil, &x)
	if err := proto.Unmarshal(d, y); err != nil || !proto.Equal(y, s) {
		b.Fatal("differ")
	}
	b.Run("in/fast", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Parse(data)
		}
	})
	b.Run("in/proto", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			y := &structpb.Struct{}
			proto.Unmarshal(data, y)
		}
	})
	b.Run("out/fast", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Append(nil, &x)
		}
	})
	b.Run("out/proto", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			proto.Marshal(s)
		}
	})
}

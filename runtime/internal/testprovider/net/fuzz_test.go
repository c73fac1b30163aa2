package net

import (
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

// FuzzDecode decodes arbitrary bags, as they come over the wire.
func FuzzDecode(f *testing.F) {
	for _, json := range []string{
		full, minimal, `{}`, `{"rules": [null, {"fromPort": ""}]}`, `{"script": {"$sig": "$asset", "text": "$unknown"}}`,
		`{"cidr": {"$sig": "$secret", "value": {"$sig": "$secret"}}}`, `{"colors": {"red": "$unknown"}}`,
	} {
		seed, err := proto.Marshal(with(f, minimal, json))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(seed)
	}
	p := NewNetworkProvider(&networkOps{})
	f.Fuzz(func(t *testing.T, wire []byte) {
		props := &structpb.Struct{}
		if proto.Unmarshal(wire, props) != nil {
			t.Skip("not a bag")
		}
		checkBag(t, p, props)
	})
}

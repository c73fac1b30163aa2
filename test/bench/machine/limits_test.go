package machine

import (
	"testing"

	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
)

const serverJSON = `{
	"name": "web", "image": "debian", "zone": "b", "owner": "me", "kernel": "6.1", "user": "root",
	"cores": 4, "memory": 16, "swap": 2, "public": true, "monitored": false, "spot": true,
	"disks": [{"device": "sda", "size": 100, "fast": true}, {"device": "sdb", "size": 500}, {"device": "sdc", "size": 1}],
	"tags": {"team": "web", "cost": "low", "stage": "test"}, "addresses": ["10.0.0.1", "10.0.0.2"]
}`

// BenchmarkConstraints decodes a resource with 15 properties, with and without ten constraints. Constraints may increase
// the time by at most 30%.
func BenchmarkConstraints(b *testing.B) {
	message := &structpb.Struct{}
	if err := message.UnmarshalJSON([]byte(serverJSON)); err != nil {
		b.Fatal(err)
	}
	bag := lumi.BagOf(message)
	for _, c := range []struct {
		name   string
		decode func() error
	}{
		{"none", func() error { return lumi.Decode(bag, new(server)) }},
		{"ten", func() error { return lumi.Decode(bag, new(limitedServer)) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := c.decode(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

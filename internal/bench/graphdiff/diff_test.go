// Package graphdiff_test measures how long it takes to compare two snapshots, beside encoding/json decoding one of them
// into structs.
package graphdiff_test

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/internal/bench/cluster"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/diff"
)

// snapshot is the text of one with a number of resources, from some cluster on. Of each cluster for which changed is
// true, two resources of the four differ.
func snapshot(first, resources int, changed func(i int) bool) string {
	var b strings.Builder
	if err := cluster.WriteChanged(&b, first, resources, changed); err != nil {
		panic(err) // A builder takes all.
	}
	return b.String()
}

// file is what encoding/json decodes.
type file struct {
	Package   string              `json:"package"`
	Resources map[string]resource `json:"resources"`
}

type resource struct {
	Type       string     `json:"type"`
	ID         string     `json:"id"`
	Properties properties `json:"properties"`
}

type properties struct {
	CidrBlock            string      `json:"cidrBlock"`
	VpcID                *reference  `json:"vpcId"`
	GroupDescription     string      `json:"groupDescription"`
	Name                 string      `json:"name"`
	SecurityGroupIngress []rule      `json:"securityGroupIngress"`
	ImageID              string      `json:"imageId"`
	InstanceType         string      `json:"instanceType"`
	SecurityGroupIDs     []reference `json:"securityGroupIds"`
	SubnetID             *reference  `json:"subnetId"`
}

type rule struct {
	CidrIP     string `json:"cidrIp"`
	FromPort   int    `json:"fromPort"`
	IPProtocol string `json:"ipProtocol"`
	ToPort     int    `json:"toPort"`
}

type reference struct {
	Ref string `json:"#ref"`
}

// BenchmarkDiff compares two snapshots that are in memory. x/decode is the time that it takes in decodings of the file.
// Where all resources are others, half of the work is to find out whether they have moved.
func BenchmarkDiff(b *testing.B) {
	never := func(int) bool { return false }
	for _, resources := range []int{10_000, 100_000} {
		text := snapshot(0, resources, never)
		old := parse(b, text)
		for _, other := range []struct{ name, text string }{
			{"equal", text},
			{"hundredth", snapshot(0, resources, func(i int) bool { return i%100 == 0 })},
			{"half", snapshot(0, resources, func(int) bool { return true })},
			{"all", snapshot(resources, resources, never)},
		} {
			new := parse(b, other.text)
			b.Run(fmt.Sprintf("%d/%s", resources, other.name), func(b *testing.B) {
				for b.Loop() {
					compare(b, old, new)
				}
				report(b, decode(b, text))
			})
			b.Run(fmt.Sprintf("%d/%s/text", resources, other.name), func(b *testing.B) {
				for b.Loop() {
					if err := compare(b, old, new).WriteText(io.Discard, diff.TextOptions{Context: 1}); err != nil {
						b.Fatal(err)
					}
				}
				report(b, decode(b, text))
			})
		}
	}
}

// report says how long one round took, in decodings.
func report(b *testing.B, decoding time.Duration) {
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(decoding), "x/decode")
}

func parse(b *testing.B, text string) *lumigl.Snapshot {
	s, err := lumigl.ParseSnapshot(text)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func compare(b *testing.B, old, new lumigl.Document) *diff.Delta {
	d, err := diff.Compare(old, new, diff.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return d
}

// decode is how long encoding/json takes for a file: the least of a few times.
func decode(b *testing.B, text string) time.Duration {
	src := []byte(text)
	least := time.Hour
	for range 3 {
		start := time.Now()
		var f file
		if err := json.Unmarshal(src, &f); err != nil {
			b.Fatal(err)
		}
		least = min(least, time.Since(start))
	}
	return least
}

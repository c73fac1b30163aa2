package query_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/query"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestFind(t *testing.T) {
	t.Parallel()
	const names = `{"resources": {
		"urn:lumi:prod::my/net:web::aws:ec2/vpc:VPC::main": {"type": "aws:ec2/vpc:VPC", "properties": {}},
		"urn:lumi:prod::my/net:web::aws:ec2:Subnet::main": {"type": "aws:ec2:Subnet", "properties": {}},
		"urn:lumi:prod::my/net:web::aws:ec2:Subnet::b": {"type": "aws:ec2:Subnet", "properties": {}},
		"urn:lumi:prod::my/net:web::aws:ec2:Subnet::zone/b": {"type": "aws:ec2:Subnet", "properties": {}},
		"urn:lumi:prod::my/net:web::aws:ec2:Subnet::zone/cache": {"type": "aws:ec2:Subnet", "properties": {}}
	}}`
	s := must.Get(lumigl.ParseSnapshot(names))(t)
	x := query.New(s.Base())
	const urns = "urn:lumi:prod::my/net:web::"
	const aKey = `a KEY is a resource's URN, a suffix of it such as "aws:ec2/vpc:VPC::main", or its name`
	for name, want := range map[string]string{
		urns + "aws:ec2:Subnet::b": urns + "aws:ec2:Subnet::b",
		"b":                        urns + "aws:ec2:Subnet::b",
		"zone/b":                   urns + "aws:ec2:Subnet::zone/b",
		"cache":                    urns + "aws:ec2:Subnet::zone/cache",
		"VPC::main":                urns + "aws:ec2/vpc:VPC::main",
		"aws:ec2:Subnet::main":     urns + "aws:ec2:Subnet::main",
		"main": `"main" is ambiguous; it matches 2 resources:` + "\n" +
			urns + "aws:ec2/vpc:VPC::main\n" + urns + "aws:ec2:Subnet::main",
		"mian":                        `no match for "mian"; did you mean "main"?`,
		urns + "aws:ec2:Subent::b":    `no match for "` + urns + `aws:ec2:Subent::b"; did you mean "` + urns + `aws:ec2:Subnet::b"?`,
		"ain":                         `no match for "ain"; did you mean "main"?`,
		"":                            `no match for ""; ` + aKey,
		"nothing like it, not at all": `no match for "nothing like it, not at all"; ` + aKey,
		"subnet":                      `no match for "subnet"; 4 resources have that type; to find them, use the expression type.endsWith(":Subnet")`,
		"aws:ec2/vpc:VPC":             `no match for "aws:ec2/vpc:VPC"; 1 resource has that type; to find them, use the expression type.endsWith("aws:ec2/vpc:VPC")`,
		"vpc:VPC":                     `no match for "vpc:VPC"; 1 resource has that type; to find them, use the expression type.endsWith("/vpc:VPC")`,
	} {
		v, err := x.Find(name)
		got := fmt.Sprint(err)
		if err == nil {
			got = v.Key()
		}
		if got != want {
			t.Errorf("Find(%q) = %s, want %s", name, got, want)
		}
	}
}

func TestFindInGraph(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 12 {
		lines = append(lines, fmt.Sprintf("%d.js", i))
	}
	x := query.New(graph(t, lines...))
	_, err := x.Find("js")
	want := `"js" is ambiguous; it matches 12 resources:` + "\n" + strings.Join(lines[:10], "\n") + "\n… and 2 more"
	if fmt.Sprint(err) != want {
		t.Errorf("Find(\"js\") = %v, want %s", err, want)
	}
}

func TestFindWithoutParts(t *testing.T) {
	t.Parallel()
	g := &lumigl.Graph{}
	for _, key := range []string{"a::x", "b/x", "c/", "d/y"} {
		must.Get(g.Add(key))(t)
	}
	x := query.New(g)
	for name, want := range map[string]string{
		"x": "\"x\" is ambiguous; it matches 2 resources:\na::x\nb/x",
		"":  `no match for ""; a KEY is a vertex's key, or a suffix of it after a colon, slash or dot`,
		"z": `no match for "z"; a KEY is a vertex's key, or a suffix of it after a colon, slash or dot`,
	} {
		if _, err := x.Find(name); fmt.Sprint(err) != want {
			t.Errorf("Find(%q) = %v, want %s", name, err, want)
		}
	}
	if v, err := x.Find("y"); err != nil || v.Key() != "d/y" {
		t.Errorf("Find(\"y\") = %v, want vertex d/y", err)
	}
}

// Without limits, the queries would run for hours.
func TestHostileGraphs(t *testing.T) {
	t.Parallel()
	// Many names that are almost equal.
	const n = 20_000
	var lines []string
	for i := range n {
		lines = append(lines, strings.Repeat("x", 200)+fmt.Sprint(i))
	}
	if _, err := query.New(graph(t, lines...)).Find(strings.Repeat("x", 199)); err == nil {
		t.Error("Find of a missing vertex returned nil, want an error")
	}
	// A chain that leaves at its start and continues in a dense part, whose cycles are dead ends.
	lines = []string{"start: end v0", "end"}
	var all strings.Builder
	for i := range 30 {
		fmt.Fprintf(&all, "v%d ", i)
	}
	for i := range 29 {
		lines = append(lines, fmt.Sprintf("v%d: %s", i, all.String()))
	}
	lines = append(lines, "v29: start "+all.String())
	g := graph(t, lines...)
	paths, _ := query.New(g).Paths(g.Vertex("start"), g.Vertex("end"), nil, 100)
	if len(paths) != 1 || keys(paths[0]) != "start end" {
		t.Errorf("Paths returned %d paths, want 1", len(paths))
	}
	// A large object that an expression reads entirely for each key.
	v := g.Vertex("end")
	var members []lumigl.Member
	for i := range n {
		members = append(members, lumigl.Member{Key: fmt.Sprint(i), Value: lumigl.IntOf(int64(i))})
	}
	v.Properties = lumigl.ObjectOf(members...)
	e := must.Get(query.Compile(`key == "end" && properties.exists(k, properties[k] == -1)`))(t)
	if found, err := query.New(g).Select(e); len(found) != 0 || err != nil {
		t.Errorf("Select returned %d vertices and %v, want none", len(found), err)
	}
}

func TestMeantType(t *testing.T) {
	types := []string{
		"aws:s3/bucket:Bucket", "aws:s3:Object", "aws:ec2:VPC", "aws:ec2/vpcPeering:VPCPeering", "gcp:storage:Bucket", "a:index/r:R",
	}
	g := &lumigl.Graph{}
	for _, token := range types {
		v := must.Get(g.Add(token))(t)
		v.Type = tokens.Type(token)
	}
	x := query.New(g)
	for given, want := range map[string]string{
		"aws:s3:Bucket":                 "aws:s3/bucket:Bucket",
		"AWS:S3:bucket":                 "aws:s3/bucket:Bucket",
		"s3:Bucket":                     "aws:s3/bucket:Bucket",
		"bucket:Bucket":                 "aws:s3/bucket:Bucket",
		"aws:s3/object:Object":          "aws:s3:Object",
		"s3/object:Object":              "aws:s3:Object",
		"Bucket":                        "aws:s3/bucket:Bucket gcp:storage:Bucket",
		"Bukcet":                        "aws:s3/bucket:Bucket gcp:storage:Bucket",
		"s3:Bukcet":                     "aws:s3/bucket:Bucket",
		"aws:s3:Bukcet":                 "aws:s3/bucket:Bucket",
		"aws:s3/bukcet:Bucket":          "aws:s3/bucket:Bucket",
		"awsec2:VPC":                    "aws:ec2:VPC",
		"aws:ec2/vpcPeerng:VPCPeering":  "aws:ec2/vpcPeering:VPCPeering",
		"a:index:R":                     "a:index/r:R",
		"Queue":                         "",
		"ucket":                         "aws:s3/bucket:Bucket gcp:storage:Bucket",
		":":                             "",
		"aws:s3/bucket/bucket:Bucket":   "aws:s3/bucket:Bucket",
		"aws:s3/bucket:Bucket:whatever": "",
	} {
		e := must.Get(query.Compile(fmt.Sprintf("type == %q", given)))(t)
		if _, meant := x.MeantType(e); strings.Join(meant, " ") != want {
			t.Errorf("MeantType(%s) = %v, want %s", given, meant, want)
		}
	}
}

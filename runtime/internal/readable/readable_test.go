package readable_test

import (
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/internal/property"
	"github.com/lumi-idl/lumi/runtime/internal/readable"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestJSON(t *testing.T) {
	fill := strings.NewReplacer("$sig", wire.Signature, "$secret", wire.Secret, "$asset", wire.Asset, "$unknown", wire.Unknown)
	for src, want := range map[string]string{
		`"a < b"`: `"a < b"`,
		`[{"a": {"$sig": "$secret", "value": {"b": "hush"}}}]`:            `[{"a":"(secret)"}]`,
		`{"$sig": "$secret", "value": "$unknown"}`:                        `"(not known yet)"`,
		`{"$sig": "$asset", "path": "p", "hash": "0123456789abcdef"}`:     `{"hash":"0123456789ab","path":"p"}`,
		`{"path": "p", "hash": "0123456789abcdef", "unknown": [null, 1]}`: `{"hash":"0123456789abcdef","path":"p","unknown":[null,1]}`,
	} {
		var v structpb.Value
		must.Do(t, protojson.Unmarshal([]byte(fill.Replace(src)), &v))
		shown := property.FromMessage(&v)
		expect.Equal(t, want, readable.JSON(&shown, ""), src)
	}
	nan := property.NumberOf(math.NaN())
	expect.Equal(t, `"NaN"`, readable.JSON(&nan, ""))
}

func TestShorten(t *testing.T) {
	for limit, want := range map[int]string{0: "…", 1: "a…", 2: "a…", 3: "aä…", 4: "aäb"} {
		expect.Equal(t, want, readable.Shorten("aäb", limit), limit)
	}
}

package pulumiserve

import (
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/adapter/pulumi/internal/traps"
	"github.com/lumi-idl/lumi/adapter/pulumi/internal/traps/lumischema"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// FuzzRequests checks that no URN and no properties make a call panic.
func FuzzRequests(f *testing.F) {
	const box = "urn:pulumi:prod::Shop::my:app:Site$acme_traps:index:Box::b"
	f.Add(box, `{"size": 1}`, `{}`)
	f.Add(box, `{"lid": {"$sig": "$resource"}, "size": {"$sig": "$output"}, "secret": {"$sig": "$secret"}}`, `{"__seed": 1}`)
	f.Add(box, `{"code": {"$sig": "$archive", "assets": {"a": {"$sig": "$asset"}}}, "any": [{"$sig": 1}, null]}`, `{"code": {"$sig": "$archive"}}`)
	f.Add("urn:pulumi:::::acme_traps:index:Lid::", `{"color": "$unknown"}`, `{"color": []}`)
	f.Add("", `{}`, `{}`)
	s := must.Get(New(traps.NewCloud().Plugin(), lumischema.JSON))(f)
	f.Fuzz(func(t *testing.T, urn, news, olds string) {
		n, o := new(structpb.Struct), new(structpb.Struct)
		short := strings.NewReplacer(names...)
		if protojson.Unmarshal([]byte(short.Replace(news)), n) != nil || protojson.Unmarshal([]byte(short.Replace(olds)), o) != nil {
			return
		}
		ctx := t.Context()
		_, _ = s.CheckConfig(ctx, &pulumirpc.CheckRequest{News: n, Olds: o})
		_, _ = s.DiffConfig(ctx, &pulumirpc.DiffRequest{News: n, Olds: o, OldInputs: o})
		_, _ = s.Check(ctx, &pulumirpc.CheckRequest{Urn: urn, News: n, Olds: o})
		_, _ = s.Diff(ctx, &pulumirpc.DiffRequest{Urn: urn, News: n, Olds: o})
		_, _ = s.Create(ctx, &pulumirpc.CreateRequest{Urn: urn, Properties: n, Preview: true})
		_, _ = s.Update(ctx, &pulumirpc.UpdateRequest{Urn: urn, News: n, Olds: o, Preview: true})
		_, _ = s.Read(ctx, &pulumirpc.ReadRequest{Urn: urn, Properties: o, Inputs: n})
		_, _ = s.Invoke(ctx, &pulumirpc.InvokeRequest{Tok: "acme_traps:index:FindLid", Args: n})
	})
}

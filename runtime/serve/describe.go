package serve

import (
	"context"
	"maps"
	"slices"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

func (s *server) Describe(ctx context.Context, req *lumirpc.DescribeRequest) (*lumirpc.DescribeResponse, error) {
	types := req.GetTypes()
	if len(types) == 0 {
		types = s.tokens()
	}
	resp := &lumirpc.DescribeResponse{}
	for _, token := range types {
		served, err := s.described(token)
		if err != nil {
			return nil, err
		}
		d, err := served.Describe(ctx)
		if err != nil {
			return nil, err
		}
		described := &lumirpc.Description{
			Type: token, Named: d.Named, CanFind: d.CanFind, IdempotentCreate: d.IdempotentCreate,
			RepeatableChange: d.RepeatableChange, Function: d.Function,
		}
		numbers := map[*lumi.Equality]int32{}
		for _, p := range d.Properties {
			described.Properties = append(described.Properties, &lumirpc.Property{
				Name: p.Name, Kind: kinds[p.Kind], Required: p.Required,
				Out: p.Flags&lumi.Out != 0, In: p.Flags&lumi.In != 0,
				Replaces: p.Flags&lumi.Replaces != 0, Secret: p.Flags&lumi.Secret != 0, Was: p.Was,
				Computed: p.Flags&lumi.Computed != 0, Fixed: p.Flags&lumi.Fixed != 0, Equality: numbered(described, p.Equality, numbers),
			})
		}
		if n := d.Name; n != (lumi.NameRules{}) {
			described.NameRules = &lumirpc.NameRules{
				MinLength: int32(n.MinLength), MaxLength: int32(n.MaxLength), Pattern: n.Pattern, Scope: n.Scope,
			}
		}
		resp.Types = append(resp.Types, described)
	}
	return resp, nil
}

// tokens returns the tokens of all resource types and functions, sorted.
func (s *server) tokens() []string {
	all := slices.Concat(sorted(s.plugin.Resources), sorted(s.plugin.Functions))
	slices.Sort(all)
	return all
}

// described is a resource provider or a function.
type described interface {
	Describe(context.Context) (*lumi.Description, error)
}

// described returns the provider of a resource type, or a function.
func (s *server) described(token string) (described, error) {
	if f, ok := s.plugin.Functions[tokens.Type(token)]; ok {
		return f, nil
	}
	return s.served(token)
}

// numbered returns the number of an equality in a description, to which it adds it.
func numbered(d *lumirpc.Description, e *lumi.Equality, numbers map[*lumi.Equality]int32) int32 {
	if !e.Any() {
		return 0
	}
	if n := numbers[e]; n > 0 {
		return n
	}
	made := &lumirpc.Equality{As: e.As}
	d.Equalities = append(d.Equalities, made)
	n := int32(len(d.Equalities))
	numbers[e] = n
	made.Elements = numbered(d, e.Elements, numbers)
	for _, name := range slices.Sorted(maps.Keys(e.Properties)) {
		if part := numbered(d, e.Properties[name], numbers); part > 0 {
			if made.Properties == nil {
				made.Properties = map[string]int32{}
			}
			made.Properties[name] = part
		}
	}
	return n
}

var kinds = map[lumi.Kind]lumirpc.Property_Kind{
	lumi.KindBool: lumirpc.Property_BOOL, lumi.KindNumber: lumirpc.Property_NUMBER,
	lumi.KindString: lumirpc.Property_STRING, lumi.KindList: lumirpc.Property_LIST, lumi.KindMap: lumirpc.Property_MAP,
	lumi.KindObject: lumirpc.Property_OBJECT, lumi.KindAny: lumirpc.Property_ANY, lumi.KindAsset: lumirpc.Property_ASSET,
	lumi.KindArchive: lumirpc.Property_ARCHIVE, lumi.KindCapability: lumirpc.Property_CAPABILITY,
}

package desired

import (
	"fmt"

	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/lang/muranopl"
	"github.com/lumi-idl/lumi/lang/yaql"
	"github.com/lumi-idl/lumi/lumigl"
)

// resource is the data attached to an object of class io.lumi.Resource.
type resource struct {
	vertex *lumigl.Vertex
	decl   *schema.Resource
	given  *yaql.Dict
}

func resourceOf(v any) *resource {
	if o, ok := v.(*muranopl.Object); ok {
		r, _ := o.Data().(*resource)
		return r
	}
	return nil
}

func (r *resource) title() string { return title(r.decl.Token, r.vertex.URN().Name()) }

func title(token, name string) string { return fmt.Sprintf("%s %q", token, name) }

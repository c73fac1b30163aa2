package pulumiserve

import (
	"strings"

	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// parts are the parts of a Pulumi URN such as "urn:pulumi:prod::shop::my:index:Site$aws:s3:Bucket::images".
type parts struct {
	stack, project, parents, typ, name string
}

// parseURN returns the parts of a URN. They are empty if it is malformed.
func parseURN(u string) parts {
	all := strings.SplitN(strings.TrimPrefix(u, "urn:pulumi:"), "::", 4)
	if len(all) < 4 {
		return parts{}
	}
	p := parts{stack: all[0], project: all[1], typ: all[2], name: all[3]}
	if i := strings.LastIndexByte(p.typ, '$'); i >= 0 {
		p.parents, p.typ = p.typ[:i], p.typ[i+1:]
	}
	return p
}

// lumi returns the URN in Lumi's form of a resource with the given token. It is as unique as the one of Pulumi: the project and the
// types of the parents are its module.
func (p parts) lumi(token tokens.Type) (urn.URN, error) {
	module := p.project
	if p.parents != "" {
		module += "/" + strings.ReplaceAll(p.parents, ":", "/")
	}
	return urn.Format(urn.Parts{Environment: p.stack, Package: "pulumi", Module: module, Type: token, Name: p.name})
}

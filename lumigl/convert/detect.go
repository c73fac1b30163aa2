package convert

import "github.com/lumi-idl/lumi/lumigl"

// detect tells the format by what only one of them has.
func detect(root lumigl.Value) (Format, error) {
	is := func(kind lumigl.Kind, keys ...string) bool {
		v := root
		for _, key := range keys {
			v = v.Get(key)
		}
		return v.Kind() == kind
	}
	has := func(key string) bool { return root.Get(key).Exists() }
	switch {
	case root.Kind() != lumigl.Object:
		return "", refuse("this is %s; every format that can be converted is an object", root.Kind())
	case has("encrypted_data"), has("terraform_version"), has("version") && (has("lineage") || has("modules") || has("backend")),
		has("format_version") && has("values"):
		return OpenTofu, nil
	case is(lumigl.Object, "deployment"), is(lumigl.Object, "checkpoint", "latest"),
		is(lumigl.List, "resources") && has("manifest"):
		return Pulumi, nil
	case is(lumigl.Number, "version") && (has("checkpoint") || has("deployment")):
		return Pulumi, nil
	case is(lumigl.Object, "resources"), is(lumigl.Object, "vertices"), has("checkpoint"), has("latest"):
		return Lumi2017, nil
	}
	return "", refuse("this looks like no format that can be converted; --from names one: %s, %s or %s",
		Lumi2017, Pulumi, OpenTofu)
}

package convert

import "github.com/lumi-idl/lumi/lumigl"

// detect identifies the source format by keys unique to it. It returns an error if none matches.
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
		return "", refuse("expected an object, got %s", root.Kind())
	case has("encrypted_data"), has("terraform_version"), has("version") && (has("lineage") || has("modules") || has("backend")),
		has("format_version") && has("values"):
		return OpenTofu, nil
	case is(lumigl.Object, "deployment"), is(lumigl.Object, "checkpoint", "latest"),
		is(lumigl.List, "resources") && has("manifest"):
		return Pulumi, nil
	case is(lumigl.Number, "version") && (has("checkpoint") || has("deployment")):
		return Pulumi, nil
	case is(lumigl.List, "latest", "resources"),
		has("latest") && (has("stack") || has("target")) && !holdsResources(root.Get("latest")):
		return Pulumi, nil
	case holdsResources(root):
		return "", refuse("the file is already LumiGL; use 'lumi fmt' to format it")
	}
	return "", refuse("unrecognized format; --from accepts %s and %s", Pulumi, OpenTofu)
}

// Recognize returns the format of a file that is not valid LumiGL. It returns "" in case of doubt, such as for a file
// with a top-level "resources" or "vertices" object, which may be LumiGL with errors.
func Recognize(src string) Format {
	root, err := lumigl.Parser{MaxDepth: maxDepth}.ParseValue(src)
	if err != nil || holdsResources(root) {
		return ""
	}
	format, _ := detect(root)
	return format
}

func holdsResources(v lumigl.Value) bool {
	return v.Get("resources").Kind() == lumigl.Object || v.Get("vertices").Kind() == lumigl.Object
}

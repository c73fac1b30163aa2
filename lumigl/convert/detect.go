package convert

import (
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
)

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
	case is(lumigl.List, "latest", "resources"),
		has("latest") && (has("stack") || has("target")) && !holdsResources(root.Get("latest")):
		return Pulumi, nil
	case is(lumigl.Object, "resources"), is(lumigl.Object, "vertices"), has("checkpoint"), has("latest"):
		return Lumi2017, nil
	}
	return "", refuse("unrecognised format; --from accepts %s, %s and %s", Lumi2017, Pulumi, OpenTofu)
}

// Recognize tells the format of a file that is not accepted as LumiGL. It is "" unless the content leaves no doubt: what
// has an object of resources or vertices at its top may as well be LumiGL with faults.
func Recognize(src string) Format {
	root, err := lumigl.Parser{MaxDepth: maxDepth}.ParseValue(src)
	if err != nil || holdsResources(root) {
		return ""
	}
	format, err := detect(root)
	if err != nil || format == Lumi2017 && !holdsResources(root.Get("checkpoint")) && !holdsResources(root.Get("latest")) {
		return ""
	}
	return format
}

func holdsResources(v lumigl.Value) bool {
	return v.Get("resources").Kind() == lumigl.Object || v.Get("vertices").Kind() == lumigl.Object
}

// refuseLumiGL refuses what looks like a file of 2017 and is LumiGL, of which a conversion would lose what 2017 had no
// word for: what is accepted as such, and what has a lineage or something pending, whatever is wrong with it.
func refuseLumiGL(src string, root lumigl.Value) error {
	if root.Get("checkpoint").Kind() == lumigl.Object || root.Get("latest").Kind() == lumigl.Object {
		return nil
	}
	const anyway = "--from=lumi-2017 converts it all the same"
	doc, err := lumigl.Parse(src)
	switch _, ok := doc.(*lumigl.Snapshot); {
	case err == nil && ok:
		return refuse("this is a LumiGL snapshot already; 'lumi fmt' makes it canonical; %s", anyway)
	case err == nil:
		return refuse("this is a LumiGL graph already; 'lumi fmt' makes it canonical; if its vertices are resources of 2017, %s", anyway)
	case keyedByURN(root.Get("resources")) && (root.Get("lineage").Exists() || root.Get("pending").Exists()):
		return refuse("this is a LumiGL snapshot already, and has faults; 'lumi check' names them, and 'lumi repair' mends what it can; %s",
			anyway)
	}
	return nil
}

func keyedByURN(resources lumigl.Value) bool {
	for key := range resources.Members() {
		if _, err := urn.URN(key).Parts(); err != nil {
			return false
		}
	}
	return resources.Kind() == lumigl.Object && resources.Len() > 0
}

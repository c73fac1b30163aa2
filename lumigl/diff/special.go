package diff

import "github.com/lumi-idl/lumi/lumigl"

func isSecret(v lumigl.Value) bool {
	_, ok := v.Secret()
	return ok
}

// isFile reports whether a value is an asset or an archive.
func isFile(v lumigl.Value) bool { return v.IsAsset() || v.IsArchive() }

// areWhole reports whether one of two values is one thing, which is not compared part by part.
func areWhole(a, b lumigl.Value) bool {
	switch {
	case isSecret(a) || isSecret(b) || a.IsAsset() || b.IsAsset():
		return true
	case a.IsArchive() || b.IsArchive():
		return !isFolder(a) || !isFolder(b)
	}
	return false
}

// isFolder reports whether a value is an archive of which all parts are there.
func isFolder(v lumigl.Value) bool { return v.IsArchive() && v.Get("assets").Kind() == lumigl.Object }

package diff

import "github.com/lumi-idl/lumi/lumigl"

// areWhole reports whether a and b must be compared as a whole because one of them is atomic.
func areWhole(a, b lumigl.Value) bool {
	switch {
	case a.IsSecret() || b.IsSecret() || a.IsAsset() || b.IsAsset():
		return true
	case a.IsArchive() || b.IsArchive():
		return !isFolder(a) || !isFolder(b)
	case a.IsExpression() || b.IsExpression():
		return !isJSON(a) || !isJSON(b)
	}
	return false
}

// isJSON reports whether a value is a jsonStringify expression.
func isJSON(v lumigl.Value) bool { return v.IsExpression() && v.Get("jsonStringify").Exists() }

// isFolder reports whether a value is an archive that lists its parts.
func isFolder(v lumigl.Value) bool { return v.IsArchive() && v.Get("assets").Kind() == lumigl.Object }

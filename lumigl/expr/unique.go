package expr

import "github.com/lumi-idl/lumi/lumigl"

// defaultLength is the number of generated characters in a unique name.
const defaultLength = 8

// UniqueName returns an expression for the name base followed by generated characters.
func UniqueName(base string) lumigl.Value {
	return expression(lumigl.Member{Key: uniqueName, Value: lumigl.TextOf(base)})
}

// Unique returns the operands of an expression for a unique name: its first part, and the number of generated
// characters. It returns ok == false for other values.
func Unique(v lumigl.Value) (base string, length int, ok bool) {
	if !v.IsExpression() {
		return "", 0, false
	}
	base, ok = v.Get(uniqueName).Text()
	length = defaultLength
	if n, set := v.Get(uniqueLength).Int(); set {
		length = int(n)
	}
	return base, length, ok
}

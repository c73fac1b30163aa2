package workspace

import "strings"

// CutName splits the full name of a setting: MODULE.KEY or, for a shared setting, KEY. It returns false if name is
// malformed.
func CutName(name string) (module, key string, ok bool) {
	i := strings.LastIndexByte(name, '.')
	module, key = name[:max(i, 0)], name[i+1:]
	return module, key, settingForm.pattern.MatchString(key) && (i < 0 || packageForm.pattern.MatchString(module))
}

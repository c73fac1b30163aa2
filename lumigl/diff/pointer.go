package diff

import "strings"

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// pointer appends a key to a JSON pointer.
func pointer(at, key string) string { return at + "/" + pointerEscapes.Replace(key) }

package consts

// The limits.
const (
	// MaxRules is an integer.
	MaxRules         = 60
	Timeout  float64 = 2.5
	Three            = 3.0
	Huge             = 1 << 63
	Tiny             = -1e-300
	Enabled          = true
	Name             = "a \"quoted\" name"
	hidden           = MaxRules * 2
)

// Escapes holds what needs care in a literal.
const Escapes = "tab\t line\n nul\x00 sep\u2028 smile\U0001F600 </script> ${x} `"

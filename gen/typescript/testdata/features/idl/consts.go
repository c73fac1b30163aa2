package features

// Enabled is a constant of each kind.
const Enabled = true

const (
	Plain   = "plain"
	Awkward = "\"quotes\", \\, \n\r\t\x00\x1b, \u2028, \u2029, \ufeff, </script>, ${x}, `, é, 𝒳"
	Zero    = 0
	Minus   = -42
	Large   = 1 << 60
	Huge    = 1 << 63
	Third   = 1.0 / 3
	Tiny    = 5e-324
	Max     = 1.7976931348623157e308
	// @ts-expect-error in a comment is no command.
	Documented = 1e21
	// @ts-ignore
	Ignored = 1e-7
	hidden  = "in no barrel"
)

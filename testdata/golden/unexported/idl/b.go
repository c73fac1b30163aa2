package unexported

// inner is for this folder only.
type inner struct {
	Label label
}

type label string

type color string

const (
	Red  color = "red"
	blue color = "blue"
)

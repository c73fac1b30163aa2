package enums

// Kind has constants in two files, which share neither a prefix nor a suffix.
type Kind string

const SSD Kind = "ssd"

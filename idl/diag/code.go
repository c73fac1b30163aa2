package diag

// Code names the rule that a diagnostic is about. Codes are stable: one that was released keeps its meaning.
type Code string

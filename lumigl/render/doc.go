// Package render draws graphs: [DOT] for Graphviz, [Mermaid] for Markdown, and [Page] for a self-contained HTML page
// with search and zoom.
//
// Arrows point from dependents to dependencies. References between the same two vertices share an arrow, which is
// labeled with the paths of the referring properties. Secrets are never written. Output is deterministic.
package render

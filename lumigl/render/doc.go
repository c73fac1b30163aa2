// Package render draws graphs: [DOT] for Graphviz, [Mermaid] for Markdown, and [Page] for a self-contained HTML page
// with search and zoom.
//
// Arrows point from dependents to dependencies. Several references between two vertices share an arrow that names the
// properties' paths. Secrets are never written. The same graph gives the same bytes.
package render

// Package opentofu compares plans of the OpenTofu adapter with those of terraform-plugin-framework, for a resource with 15
// properties. It is a separate module so that the adapter does not depend on the framework.
package opentofu

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// explain returns additional text for an OpenTofu error: the resource in the program, or advice on missing settings. It
// returns "" if there is none.
func (w *writer) explain(d diagnostic) string {
	if r := w.resources[d.Address]; r != nil {
		return fmt.Sprintf("\n  in %s (%s), which is %s in OpenTofu", r.URN.Name(), r.Type, d.Address)
	}
	for _, address := range slices.Sorted(maps.Keys(w.resources)) {
		r := w.resources[address]
		t, _, _ := strings.Cut(address, ".")
		provider, _, _ := strings.Cut(t, "_")
		switch {
		case d.Summary == "Invalid resource type" && strings.Contains(d.Detail, `"`+t+`"`):
			return fmt.Sprintf("\n  for %s (%s): add its OpenTofu type to %s, as types: {%q: TYPE}", r.URN.Name(), r.Type, settingsFile, r.Type)
		case strings.HasPrefix(d.Summary, "Failed to query available provider") && strings.Contains(d.Detail, "/"+provider+" "):
			return fmt.Sprintf("\n  for %s (%s): add the provider's source to %s, as providers: {%s: {source: OWNER/NAME}},"+
				" or the resource's type, as types: {%q: TYPE}", r.URN.Name(), r.Type, settingsFile, provider, r.Type)
		}
	}
	return ""
}

package schema

import "testing"

func TestTSModuleName(t *testing.T) {
	for folder, want := range map[string]string{
		"ec2": "ec2", "my-mod": "my_mod", "v1.2": "v1_2", "3d": "_3d", "größe": "größe", "class": "class",
		"default": "_default", "public": "_public", "_x~": "_x_",
	} {
		if got := TSModuleName(folder); got != want {
			t.Errorf("TSModuleName(%q) = %q, want %q", folder, got, want)
		}
	}
}

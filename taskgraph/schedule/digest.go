package schedule

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/lumi-idl/lumi/taskgraph"
)

// Digest returns a digest of the content of a task.
func Digest(t taskgraph.Task) string {
	text, _ := json.Marshal(t) // attributes are JSON values
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:12])
}

// Digests returns the digest of each task by ID.
func Digests(tasks []taskgraph.Task) map[string]string {
	all := make(map[string]string, len(tasks))
	for _, t := range tasks {
		all[t.ID] = Digest(t)
	}
	return all
}

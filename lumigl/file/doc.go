// Package file keeps snapshots in files: it loads them, and saves them so that a file that can be loaded is always
// there, whatever happens to the process, the disk or the power, and so that nobody overwrites what they have not seen.
//
//	locked, err := file.Open(ctx, "prod.json", file.Options{Command: "lumi deploy"})
//	if err != nil {
//		return err
//	}
//	defer locked.Close()
//	snapshot, version, err := locked.Load()
//	…
//	version, err = locked.Save(snapshot, version)
//
// Beside prod.json there are then prod.json.backup, which is the file before the last save, and prod.json.lock, which
// says who is writing.
//
// Those who only read need no lock: [Load] sees either what was before a save or what is after it. Those who load
// without a lock may still save, with one: [Locked.Save] refuses them if somebody was faster.
//
// docs/files.md says what is guaranteed, on which file systems, and how.
package file

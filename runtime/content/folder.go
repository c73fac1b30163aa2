package content

import (
	"errors"
	"io/fs"
	"os"
	"slices"
)

// folder walks a folder. It never opens anything outside of it, even if the folder changes during the walk.
func (w *walker) folder(prefix string, where place) error {
	root, err := os.OpenRoot(where.path)
	if err != nil {
		return where.failed(err)
	}
	defer func() { _ = root.Close() }() // read only
	files, err := w.list(root, where)
	if err != nil {
		return err
	}
	for _, name := range files {
		if err := w.folderFile(prefix, where, root, name); err != nil {
			return err
		}
	}
	return nil
}

// list returns the sorted names of all files in a folder and its subfolders.
func (w *walker) list(root *os.Root, where place) (files []string, err error) {
	spent := 0
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case w.ctx.Err() != nil:
			return where.failed(w.ctx.Err())
		case err != nil:
			return where.failed(notOpened(name, err))
		case name == ".":
			return nil
		}
		if spent += len(name) + nameCost; spent > maxNames {
			return where.failed(errTooMany)
		}
		name, err = cleanName(name)
		switch {
		case err != nil:
			return where.failed(err)
		case entry.IsDir():
			return nil
		case !entry.Type().IsRegular():
			return where.failed(entryFailed(name, notRegular(kindOf(entry.Type())), nil))
		}
		files = append(files, name)
		return nil
	})
	slices.Sort(files)
	return files, err
}

// notOpened returns the error for a file or folder below the walked folder that cannot be opened.
func notOpened(name string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err // The operation and path are redundant.
	}
	if name == "." {
		return err
	}
	return entryFailed(name, err.Error(), err)
}

// notRegular returns the error message for a file of an unsupported kind.
func notRegular(kind string) string {
	return "is " + kind + "; archives may contain only files and folders"
}

func (w *walker) folderFile(prefix string, where place, root *os.Root, name string) error {
	file, err := root.OpenFile(name, openForReading, 0)
	if err != nil {
		return where.failed(notOpened(name, err))
	}
	defer func() { _ = file.Close() }() // read only
	info, err := file.Stat()
	if err != nil {
		return where.failed(notOpened(name, err))
	}
	switch {
	case info.IsDir():
		return where.failed(entryFailed(name, "was replaced by a folder during the walk", nil))
	case !info.Mode().IsRegular():
		return where.failed(entryFailed(name, notRegular(kindOf(info.Mode())), nil))
	}
	return w.show(File{
		Name: prefix + name, Size: info.Size(), Executable: isExecutable(info.Mode()), Content: file,
	}, where.failed)
}

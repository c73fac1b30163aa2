package atomicfile

import "errors"

func become(int) error { return errors.ErrUnsupported }

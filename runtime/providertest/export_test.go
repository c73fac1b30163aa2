package providertest

import "time"

func init() { lingering = 500 * time.Millisecond }

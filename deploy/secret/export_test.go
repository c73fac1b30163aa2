package secret

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
)

func init() { defaultWorkFactor = 10 }

// Forms returns the forms in which a key may appear in text.
func Forms(k *Key) []string {
	data, _ := base64.StdEncoding.DecodeString(k.text())
	hexadecimal := hex.EncodeToString(data)
	return []string{
		k.text(), hexadecimal, strings.ToUpper(hexadecimal), string(data), strings.Trim(fmt.Sprintf("%d", data), "[]"), fmt.Sprintf("%#v", data)[7:],
	}
}

package lumigl

import "math/bits"

// queue is a set of small numbers that gives the least of them first. It is a tree of bits: a bit says whether there is
// any in the word below that it stands for. So what it takes does not depend on how many numbers there are.
type queue [][]uint64 // from the numbers up to a single word

// newQueue returns an empty queue for numbers below n.
func newQueue(n int) queue {
	var q queue
	for {
		n = (n + 63) / 64
		q = append(q, make([]uint64, max(n, 1)))
		if n <= 1 {
			return q
		}
	}
}

func (q queue) push(n int32) {
	for _, level := range q {
		level[n/64] |= 1 << (n % 64)
		n /= 64
	}
}

// pop removes the least number. There must be one.
func (q queue) pop() int32 {
	least := int32(0)
	for i := len(q) - 1; i >= 0; i-- {
		least = least*64 + int32(bits.TrailingZeros64(q[i][least]))
	}
	n := least
	for _, level := range q {
		level[n/64] &^= 1 << (n % 64)
		if n /= 64; level[n] != 0 {
			break
		}
	}
	return least
}

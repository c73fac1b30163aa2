package layout

import (
	"cmp"
	"slices"
)

// sweeps is the number of ordering passes.
const sweeps = 12

// order moves the nodes of each layer toward their neighbors, sweeping in alternating directions. It keeps the order
// with the fewest crossings.
func (l *layers) order() {
	if len(l.in) < 2 {
		return
	}
	l.start()
	best, fewest := l.snapshot(), l.crossings()
	for i := 0; i < sweeps && fewest > 0; i++ {
		for j := range l.in {
			if i%2 == 0 {
				l.sort(j, l.left)
			} else {
				l.sort(len(l.in)-1-j, l.right)
			}
		}
		if n := l.crossings(); n < fewest {
			best, fewest = l.snapshot(), n
		}
	}
	l.in = best
	l.number()
}

// start orders the nodes of each layer as they are visited by a walk along the links.
func (l *layers) start() {
	seen := make([]bool, len(l.layer))
	in := make([][]int32, len(l.in))
	var todo []int32
	for _, layer := range l.in {
		for _, first := range layer {
			for todo = append(todo[:0], first); len(todo) > 0; {
				n := todo[len(todo)-1]
				todo = todo[:len(todo)-1]
				if seen[n] {
					continue
				}
				seen[n] = true
				in[l.layer[n]] = append(in[l.layer[n]], n)
				for _, next := range slices.Backward(l.right[n]) {
					if !seen[next] {
						todo = append(todo, next)
					}
				}
			}
		}
	}
	l.in = in
	l.number()
}

func (l *layers) snapshot() [][]int32 {
	c := make([][]int32, len(l.in))
	for i, in := range l.in {
		c[i] = slices.Clone(in)
	}
	return c
}

func (l *layers) number() {
	for _, in := range l.in {
		for place, n := range in {
			l.place[n] = int32(place)
		}
	}
}

// sort orders a layer by the average position of each node's neighbors on the given side. Nodes without neighbors there
// keep their position.
func (l *layers) sort(layer int, side [][]int32) {
	in := l.in[layer]
	at := make([]float64, len(in))
	last := 0.0
	for place, n := range in {
		if len(side[n]) > 0 {
			sum := 0.0
			for _, other := range side[n] {
				sum += (float64(l.place[other]) + 0.5) / float64(len(l.in[l.layer[other]]))
			}
			last = sum / float64(len(side[n]))
		}
		at[place] = last
	}
	slices.SortStableFunc(in, func(a, b int32) int { return cmp.Compare(at[l.place[a]], at[l.place[b]]) })
	for place, n := range in {
		l.place[n] = int32(place)
	}
}

// crossings returns the number of crossing pairs of links between adjacent layers.
func (l *layers) crossings() int {
	total := 0
	var ends []int32
	for i, in := range l.in[:len(l.in)-1] {
		ends = ends[:0]
		for _, n := range in {
			start := len(ends)
			for _, to := range l.right[n] {
				if int(l.layer[to]) == i+1 {
					ends = append(ends, l.place[to])
				}
			}
			slices.Sort(ends[start:])
		}
		total += inversions(ends, len(l.in[i+1]))
	}
	return total
}

// inversions returns the number of inversions in a list of numbers less than n.
func inversions(numbers []int32, n int) int {
	tree := make([]int32, n+1) // Fenwick tree of the numbers seen
	total := 0
	for seen, number := range numbers {
		below := 0
		for i := int(number) + 1; i > 0; i -= i & -i {
			below += int(tree[i])
		}
		total += seen - below
		for i := int(number) + 1; i <= n; i += i & -i {
			tree[i]++
		}
	}
	return total
}

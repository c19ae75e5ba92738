package sandbox

// rng is a deterministic random number generator (splitmix64). Equal seeds give
// equal numbers on every machine and with every Go version. It is not for secrets.
type rng struct{ state uint64 }

func (d *rng) next() uint64 {
	d.state += 0x9e3779b97f4a7c15
	return mix(d.state)
}

func mix(z uint64) uint64 {
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}

// unit returns a number in [0, 1).
func (d *rng) unit() float64 {
	return float64(d.next()>>11) / (1 << 53)
}

// n returns a number in [0, limit); limit is positive.
func (d *rng) n(limit int) int {
	return int(d.next() >> 33 % uint64(limit))
}

// between returns a number from low to high, inclusive.
func (d *rng) between(low, high int) int {
	return low + d.n(high-low+1)
}

func pick[T any](d *rng, from []T) T {
	return from[d.n(len(from))]
}

// derive returns an independent seed for several numbers.
func derive(parts ...uint64) uint64 {
	z := uint64(0x243f6a8885a308d3)
	for _, p := range parts {
		z = mix(z ^ (p + 0x9e3779b97f4a7c15))
	}
	return z
}

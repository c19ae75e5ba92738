package sandbox

// rng is a small deterministic source of draws (splitmix64): the same seed
// gives the same draws on every machine and Go version, which is what makes
// faults and generated menus repeatable. Nothing secret comes from it.
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

// unit is at least 0 and less than 1.
func (d *rng) unit() float64 {
	return float64(d.next()>>11) / (1 << 53)
}

// n is one of 0 … limit-1; 0 where limit is not positive.
func (d *rng) n(limit int) int {
	if limit <= 0 {
		return 0
	}
	return int(d.next() >> 33 % uint64(limit)) //nolint:gosec // both fit: 31 bits, and limit is positive
}

// between is at least low and at most high.
func (d *rng) between(low, high int) int {
	return low + d.n(high-low+1)
}

func pick[T any](d *rng, from []T) T {
	return from[d.n(len(from))]
}

// derive makes an independent seed of several numbers.
func derive(parts ...uint64) uint64 {
	z := uint64(0x243f6a8885a308d3)
	for _, p := range parts {
		z = mix(z ^ (p + 0x9e3779b97f4a7c15))
	}
	return z
}

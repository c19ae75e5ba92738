package cache

// Memory is what the ready bodies of a Replica take, in bytes.
type Memory struct {
	Used  int64
	Limit int64 // of ReplicaConfig.Memory
}

// Memory gives what the ready bodies take now. It allocates nothing.
func (r *Replica) Memory() Memory {
	return Memory{Used: int64(r.bodies.cache.WeightedSize()), Limit: r.cfg.Memory} //nolint:gosec // bounded by Limit
}

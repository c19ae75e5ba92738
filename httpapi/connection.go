package httpapi

// connection finds a connection by its name.
func (s *Server) connection(name string) Connection {
	for _, connection := range s.connections {
		if connection.Name == name {
			return connection
		}
	}
	return Connection{Name: name}
}

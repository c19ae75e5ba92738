package httpapi

import (
	"strings"

	"github.com/gin-gonic/gin"

	"larder/cache"
	"larder/internal/jsontext"
	"larder/internal/menu"
	"larder/internal/upstream"
	"larder/ordering"
)

// dropInPath begins the paths of the drop-in face: the ordering service's own
// interface, so that a program that speaks it changes its base URL and nothing
// else. The token endpoint, which both faces share, stands outside.
const dropInPath = "/orders/api/"

// onDropIn tells whether a path belongs to the drop-in face.
func onDropIn(path string) bool { return strings.HasPrefix(path, dropInPath) }

// routeDropIn registers the drop-in face, each path with and without a slash
// at its end. Every endpoint needs the scope orders (policy H2).
func (s *Server) routeDropIn(engine *gin.Engine) {
	orders := s.guard(ScopeOrders)
	place, change := limitClient(s.placeLimit), limitClient(s.changeLimit)
	for _, slash := range []string{"", "/"} {
		path := func(rest string) string { return dropInPath + "v1/" + rest + slash }
		get(engine, path("menu/view"), orders, s.dropInMenu)
		get(engine, path("rejectionReasons"), orders, s.dropInReasons)
		engine.POST(path("orders"), orders, place, s.dropInPlace)
		for _, operation := range []ordering.Operation{upstream.OpPay, upstream.OpComplete, upstream.OpReject} {
			engine.PUT(path("orders/:orderID/"+string(operation)), orders, change, s.dropInChange(operation))
		}
	}
}

// dropInReasons answers GET /orders/api/v1/rejectionReasons.
func (s *Server) dropInReasons(c *gin.Context) {
	connection, err := s.ownConnection(c)
	if err != nil {
		fail(c, err)
		return
	}
	s.answerReasons(c, connection)
}

// ownConnection is whose menus and orders a request on the drop-in face is
// about: its client's, or the only one that is configured.
func (s *Server) ownConnection(c *gin.Context) (string, error) {
	who, _ := callerOf(c)
	return s.onlyConnection(who)
}

// onlyConnection is whose menus and orders a caller's requests are about.
func (s *Server) onlyConnection(who caller) (string, error) {
	seen, name := 0, ""
	for i := range s.connections {
		if who.sees(s.connections[i].Name) {
			seen, name = seen+1, s.connections[i].Name
		}
	}
	if seen == 1 {
		return name, nil
	}
	switch names := s.seen(who); len(names) {
	case 0:
		return "", connectionNotFound(names)
	default:
		return "", &problem{
			code: CodeConnectionRequired, params: map[string]any{"known": names},
			msg: "several connections are configured; auth.clients[].connection gives the client one of: " + strings.Join(names, ", "),
		}
	}
}

// ownMenu chooses whose menu a request of a connection is about: that of the
// restaurant it names, else by policy O1a the connection's own menu, or that of
// its only restaurant. What belongs to another connection is unknown.
func (s *Server) ownMenu(connection, restaurant string) (menu.RestaurantID, error) {
	if one, known := s.runner.Known(menu.RestaurantID(restaurant)); known && one.Connection == connection {
		return one.ID, nil
	}
	if own := s.defaultMenu(connection); restaurant == "" && s.runner.Keeps(own) {
		return own, nil
	}
	theirs := []menu.RestaurantID{}
	for _, one := range s.visible(caller{Connection: connection}) {
		theirs = append(theirs, one.ID)
	}
	switch {
	case restaurant != "" || len(theirs) == 0:
		return "", restaurantNotFound(theirs)
	case len(theirs) == 1:
		return theirs[0], nil
	default:
		return "", restaurantRequired(theirs)
	}
}

// defaultMenu is where a connection's own menu view is kept.
func (s *Server) defaultMenu(connection string) menu.RestaurantID {
	for i := range s.connections {
		if s.connections[i].Name == connection {
			return s.defaults[i]
		}
	}
	return cache.DefaultMenu(connection)
}

// restaurantOfQuery reads ?restaurantId=, its name in any spelling.
func restaurantOfQuery(c *gin.Context) (string, error) {
	asked := ""
	for name, values := range c.Request.URL.Query() {
		if jsontext.FoldName(name) != "restaurantid" {
			continue
		}
		for _, value := range values {
			if asked != "" && value != "" && value != asked {
				return "", invalid("restaurantId", "is given twice, with different values")
			}
			if value != "" {
				asked = value
			}
		}
	}
	return asked, nil
}

// restaurantOfBody reads restaurantID of an order, its name in any spelling;
// "" where it is missing or no identifier, which is for the rules to refuse. Of
// several the last one counts, as it does for the rules. The error is a
// *jsontext.SyntaxError.
func restaurantOfBody(body []byte) (string, error) {
	named := ""
	reader := jsontext.NewReader(string(body), maxDepth)
	for name := range reader.Members() {
		if jsontext.FoldName(name) == "restaurantid" && reader.Kind() != jsontext.KindNull {
			named, _ = reader.ID()
		}
	}
	if err := reader.Err(); err != nil {
		return "", err
	}
	if strings.TrimSpace(named) == "" {
		return "", nil
	}
	return named, nil
}

// dropInMenu answers GET /orders/api/v1/menu/view: the menu view as the
// ordering service published it, with every field that larder does not know. A
// body, which some clients send, is not read.
func (s *Server) dropInMenu(c *gin.Context) {
	named, err := restaurantOfQuery(c)
	if err != nil {
		fail(c, err)
		return
	}
	s.readHot(c, &hotRead{kind: readView, restaurant: named})
}

package respond

import (
	"strconv"
	"strings"

	"larder/internal/menu"
)

// maxKnown bounds the ids that restaurant_not_found and restaurant_required list.
const maxKnown = 100

// RestaurantNotFound lists the ids that exist.
func RestaurantNotFound(known []menu.RestaurantID) *Problem {
	return restaurantProblem(CodeRestaurantNotFound, "there is no such restaurant; ", known)
}

// RestaurantRequired lists the ids to choose from.
func RestaurantRequired(known []menu.RestaurantID) *Problem {
	return restaurantProblem(CodeRestaurantRequired, "name the restaurant; ", known)
}

// restaurantProblem lists at most a hundred of the ids, in the sentence and as
// params.
func restaurantProblem(code Code, msg string, known []menu.RestaurantID) *Problem {
	ids := append([]menu.RestaurantID{}, known[:min(len(known), maxKnown)]...)
	params := map[string]any{"known": ids}
	switch {
	case len(known) == 0:
		msg += "none is configured"
	case len(known) > maxKnown:
		params["total"] = len(known)
		msg += "the first of " + strconv.Itoa(len(known)) + " that exist are: " + join(ids, ", ")
	default:
		msg += "there are: " + join(ids, ", ")
	}
	return &Problem{Code: code, Msg: msg, Params: params}
}

// ConnectionNotFound lists the connections that there are, for this caller.
func ConnectionNotFound(names []string) *Problem {
	p := &Problem{
		Code: CodeConnectionNotFound, Msg: "there is no such connection; there are: " + strings.Join(names, ", "),
		Params: map[string]any{"known": names},
	}
	if len(names) == 0 {
		p.Msg = "no connection is configured"
	}
	return p
}

// VersionNotFound refuses a version that is not in the history.
func VersionNotFound(version int64) *Problem {
	return &Problem{
		Code:   CodeVersionNotFound,
		Msg:    "version " + strconv.FormatInt(version, 10) + " is not kept; /v1/ops/restaurants/{restaurant}/versions lists those that are",
		Params: map[string]any{"version": version},
	}
}

package httpapi

import (
	"strconv"
	"strings"

	"larder/internal/menu"
)

// maxKnown bounds the ids that restaurant_not_found and restaurant_required list.
const maxKnown = 100

// restaurantNotFound lists the ids that exist.
func restaurantNotFound(known []menu.RestaurantID) *problem {
	return restaurantProblem(CodeRestaurantNotFound, "there is no such restaurant; ", known)
}

// restaurantRequired lists the ids to choose from.
func restaurantRequired(known []menu.RestaurantID) *problem {
	return restaurantProblem(CodeRestaurantRequired, "name the restaurant; ", known)
}

// restaurantProblem lists at most a hundred of the ids, in the sentence and as
// params.
func restaurantProblem(code Code, msg string, known []menu.RestaurantID) *problem {
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
	return &problem{code: code, msg: msg, params: params}
}

// connectionNotFound lists the connections that there are, for this caller.
func connectionNotFound(names []string) *problem {
	p := &problem{
		code: CodeConnectionNotFound, msg: "there is no such connection; there are: " + strings.Join(names, ", "),
		params: map[string]any{"known": names},
	}
	if len(names) == 0 {
		p.msg = "no connection is configured"
	}
	return p
}

// versionNotFound refuses a version that is not in the history.
func versionNotFound(version int64) *problem {
	return &problem{
		code:   CodeVersionNotFound,
		msg:    "version " + strconv.FormatInt(version, 10) + " is not kept; /v1/ops/restaurants/{restaurant}/versions lists those that are",
		params: map[string]any{"version": version},
	}
}

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hbollon/go-edlib"

	"larder.local/cmd/larder/client"
	"larder.local/configs"
	"larder.local/httpapi/respond"
)

// The lists of restaurants: that of operators and the public one.
const (
	opsRestaurantsPath = "/v1/ops/restaurants?limit=500"
	restaurantsPath    = "/v1/restaurants?limit=500"
)

// findLimit is the timeout of the list in which atRestaurant looks for a name.
const findLimit = 10 * time.Second

// atRestaurant calls call with a restaurant's id. If given is not an id, but the name of one restaurant, it calls it again
// with the id of that one. For an unknown name, the error has the nearest restaurants.
func atRestaurant[T any](ctx context.Context, daemon *client.Client, given string, call func(id string) (T, error)) (T, error) {
	result, err := call(given)
	refused, ok := errors.AsType[*client.Error](err)
	if !ok || refused.Code != string(respond.CodeRestaurantNotFound) {
		return result, err
	}
	path := restaurantsPath
	if refused.OpsRoute {
		path = opsRestaurantsPath
	}
	listing, cancel := context.WithTimeout(ctx, findLimit)
	defer cancel()
	all, listErr := client.EveryPage[Restaurant](listing, daemon, path)
	if listErr != nil {
		return result, err
	}
	id, msg := findRestaurant(all, given)
	if id == "" {
		return result, refused.WithMsg(msg)
	}
	return call(id)
}

// configuredRestaurants returns the restaurants of a configuration.
func configuredRestaurants(cfg *configs.Config) []Restaurant {
	return Mapped(cfg.Restaurants, func(r configs.Restaurant) Restaurant { return Restaurant{ID: string(r.ID), Name: r.Name} })
}

// findRestaurant returns the id of the restaurant with this id, or of the only one with this name. Otherwise it returns a
// message with the nearest restaurants.
func findRestaurant(all []Restaurant, given string) (id, msg string) {
	var named []string
	for i := range all {
		switch {
		case all[i].ID == given:
			return given, ""
		case strings.EqualFold(strings.TrimSpace(all[i].Name), strings.TrimSpace(given)):
			named = append(named, all[i].ID)
		}
	}
	switch {
	case len(named) == 1:
		return named[0], ""
	case len(named) > 1:
		return "", fmt.Sprintf("%d restaurants have the name %q: use one of the ids %s", len(named), given, FirstOf(named, len(named)))
	case len(all) == 0:
		return "", fmt.Sprintf("there is no restaurant %q, and no other one", given)
	}
	nearest := strings.Join(nearestRestaurants(all, given), ", ")
	return "", fmt.Sprintf("there is no restaurant %q; the nearest of %d: %s", given, len(all), nearest)
}

// nearestRestaurants returns the labels of the restaurants whose id or name is most similar to a text. First are those that
// contain it.
func nearestRestaurants(all []Restaurant, given string) []string {
	const compared = 100 // bytes of a text: the comparison of long ones is slow
	short := func(text string) string { return strings.ToLower(text[:min(len(text), compared)]) }
	given = short(given)
	distance := func(text string) int {
		if text = short(text); strings.Contains(text, given) {
			return 0
		}
		return edlib.OSADamerauLevenshteinDistance(given, text)
	}
	distances := make(map[string]int, len(all))
	for i := range all {
		distances[all[i].ID] = min(distance(all[i].ID), distance(all[i].Name))
	}
	nearest := slices.Clone(all)
	slices.SortStableFunc(nearest, func(a, b Restaurant) int { return cmp.Compare(distances[a.ID], distances[b.ID]) })
	return Mapped(nearest[:min(len(nearest), MaxListed)], func(r Restaurant) string { return r.label() })
}

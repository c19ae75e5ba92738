package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"larder.local/internal/menu"
	"larder.local/internal/upstream"
)

// checkMenu fetches one menu; an empty restaurant means the default menu. id is what to correct if the
// service has no such restaurant.
func checkMenu(ctx context.Context, client *upstream.Client, what, restaurant, id string) finding {
	view, size, err := fetchMenu(ctx, client, restaurant)
	if failed, ok := errors.AsType[*upstream.Error](err); ok && failed.Status == http.StatusNotFound {
		err = fmt.Errorf("%w; correct %s", err, id)
	}
	return menuFinding(what, view, size, err)
}

// menuFinding is the finding about a menu that was fetched.
func menuFinding(what string, view *menu.View, size int, err error) finding {
	if err != nil {
		return newFinding(what, "", err)
	}
	return newFinding(what, fmt.Sprintf("%s, %d bytes", Plural(len(view.Products), "dish", "dishes"), size), nil)
}

// fetchMenu fetches and decodes a menu view; an empty restaurant means the default menu.
func fetchMenu(ctx context.Context, client *upstream.Client, restaurant string) (view *menu.View, size int, err error) {
	answer, err := client.MenuView(ctx, restaurant, upstream.Validator{}, 0)
	if err != nil {
		return nil, 0, err
	}
	view, err = menu.Decode(answer.Body)
	return view, len(answer.Body), err
}

// checkDefaultMenu finds out whether the connection has a menu of its own. The restaurants may have menus without it.
func (s *initSession) checkDefaultMenu(ctx context.Context, client *upstream.Client) bool {
	const what = "menu without a restaurant"
	view, size, err := fetchMenu(ctx, client, "")
	s.DefaultMenu = err == nil
	failed, ok := errors.AsType[*upstream.Error](err)
	if ok && (failed.Status == http.StatusNotFound || failed.Status == http.StatusBadRequest) {
		return s.printFinding(newFinding(what, fmt.Sprintf("none (%d), so default_menu is false", failed.Status), nil))
	}
	return s.printFinding(menuFinding(what, view, size, err))
}

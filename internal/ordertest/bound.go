package ordertest

// Bound is an order (docs/ordering-service.md, section 2.1) as a Gin handler binds it: what
// the validate route's time is compared with.
type Bound struct {
	Comment        string `json:"comment"`
	RestaurantID   string `json:"restaurantID"`
	Persons        int    `json:"persons"`
	ExpeditionType string `json:"expeditionType"`
	ExpectedAt     string `json:"expectedAt"`
	PaymentTypeID  string `json:"paymentTypeID"`
	DishList       []struct {
		BoundItem

		Ingredients []BoundItem `json:"ingredients"`
	} `json:"dishList"`
	Guest struct {
		Email     string `json:"email"`
		Phone     string `json:"phone"`
		FirstName string `json:"firstName"`
		LastName  string `json:"lastName"`
	} `json:"guest"`
	Address struct {
		Street      string  `json:"street"`
		Lat         float64 `json:"lat"`
		Lon         float64 `json:"lon"`
		CityName    string  `json:"cityName"`
		Floor       int     `json:"floor"`
		HouseNumber string  `json:"houseNumber"`
	} `json:"address"`
}

// BoundItem is what a dish and an ingredient have in common.
type BoundItem struct {
	ID       string `json:"ID"`
	Name     string `json:"name"`
	Price    any    `json:"price"` // a number, or one in quotes
	Quantity int    `json:"quantity"`
}

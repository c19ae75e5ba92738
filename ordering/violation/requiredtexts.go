package violation

// requiredTexts has the messages of FieldRequired by the field's name in the ordering service's interface. Guests read
// them, and do not know that name. Fields that only programs send, such as those of a payment, have no message of their own.
//
//nolint:gochecknoglobals // read only
var requiredTexts = map[string]texts{
	"dishList":                    {"Choose at least one dish", "Выберите хотя бы одно блюдо"},
	"dishList[].ID":               {"Choose the dish again", "Выберите блюдо ещё раз"},
	"dishList[].quantity":         {"{subject}: enter the quantity", "{subject}: укажите количество"},
	"dishList[].ingredients[].ID": {"Choose the ingredient again", "Выберите ингредиент ещё раз"},
	"expeditionType":              {"Choose delivery or pickup", "Выберите доставку или самовывоз"},
	"expectedAt":                  {"Choose a time, or “as soon as possible”", "Выберите время или «как можно скорее»"},
	"paymentTypeID":               {"Choose how to pay", "Выберите способ оплаты"},
	"changeFrom":                  {"Enter the amount that you need change for", "Укажите, с какой суммы нужна сдача"},
	"persons":                     {"Enter the number of guests", "Укажите количество персон"},
	"comment":                     {"Enter a comment", "Добавьте комментарий"},

	"guest":           {"Enter your contact details", "Укажите, как с вами связаться"},
	"guest.phone":     {"Enter your phone number", "Укажите номер телефона"},
	"guest.email":     {"Enter your e-mail address", "Укажите адрес электронной почты"},
	"guest.firstName": {"Enter your first name", "Укажите имя"},
	"guest.lastName":  {"Enter your last name", "Укажите фамилию"},

	"address":                 {"Enter the address", "Укажите адрес"},
	"address.fullAddress":     {"Enter the full address", "Укажите полный адрес"},
	"address.cityName":        {"Enter the city", "Укажите город"},
	"address.cityID":          {"Choose the city", "Выберите город"},
	"address.postcode":        {"Enter the postcode", "Укажите почтовый индекс"},
	"address.street":          {"Enter the street", "Укажите улицу"},
	"address.houseNumber":     {"Enter the house number", "Укажите номер дома"},
	"address.apartmentNumber": {"Enter the apartment number", "Укажите номер квартиры"},
	"address.entrance":        {"Enter the entrance", "Укажите подъезд"},
	"address.floor":           {"Enter the floor", "Укажите этаж"},
	"address.subway":          {"Enter the metro station", "Укажите станцию метро"},
	"address.comment":         {"Enter a comment on the address", "Добавьте комментарий к адресу"},
	"address.lat":             {"Choose the place on the map", "Выберите место на карте"},
	"address.lon":             {"Choose the place on the map", "Выберите место на карте"},
}

package wireshapes

// Menu returns the menu view of the orders as a service publishes it. It has prices and ids as text and
// as numbers, an id above 2^53, nulls, and fields that the interface does not have.
func Menu() []byte {
	return []byte(`{"name":"Wire shapes","isPossibleDelete":false,"haveChanges":null,"dateModified":"2022-04-30T02:03:04.565+00:00",
"categories":[{"id":5,"name":"Kitchen","parentId":null},{"id":"6","name":"Напитки 🥤","parentId":"5"}],
"products":[
 {"id":"d-water","externalId":"1001001","categoryId":"6","name":"Still water","price":99,"schemeId":null,"description":null,
  "imageUrls":[],"measure":{"value":0.5,"unit":"liter"},"isContainInStopList":null,"calories":null,"energyValue":null,
  "proteins":null,"fats":null,"carbohydrates":null,"disabled":false,"restaurantExtendDatas":null},
 {"id":"d-pizza","externalId":"1001002","categoryId":"5","name":"Pizza \"Quattro\" 🍕","price":640.50,"schemeId":"s-sauce",
  "description":"with basil",
  "imageUrls":["https://images.test/pizza.jpg"],"measure":{"value":1,"unit":"pcs"},"isContainInStopList":[],"calories":800,
  "energyValue":3347,
  "proteins":30,"fats":25.5,"carbohydrates":90},
 {"id":"d-combo","externalId":"1001003","categoryId":"5","name":"Combo","price":"450.00","schemeId":"s-combo","description":"",
  "imageUrls":null,"measure":{"value":null,"unit":null},"isContainInStopList":["elsewhere"]},
 {"id":900719925474099301,"externalId":9007199254740993,"categoryId":5,"name":"Numbered","price":10,"measure":null},
 {"id":"d-bare","externalId":null,"categoryId":"5","name":"No externalId","price":5}],
"ingredientsSchemes":[
 {"id":"s-sauce","ingredientsGroups":[{"id":"g-sauce","minCount":0,"maxCount":3}]},
 {"id":"s-combo","ingredientsGroups":[{"id":"g-main","minCount":1,"maxCount":2}]},
 {"id":"s-main","ingredientsGroups":[{"id":"g-side","minCount":1,"maxCount":1}]}],
"ingredientsGroups":[
 {"id":"g-sauce","name":"Sauce","ingredients":["i-garlic","i-chili"]},
 {"id":"g-main","name":"Main","ingredients":["i-burger"]},
 {"id":"g-side","name":"Side","ingredients":["i-fries","i-salad"]}],
"ingredients":[
 {"id":"i-garlic","externalId":"2001","name":"Garlic","price":10.5,"schemeId":null,"maxCountForDish":3},
 {"id":"i-chili","externalId":"2002","name":"Chili","price":"0"},
 {"id":"i-burger","externalId":"2003","name":"Burger","price":0,"schemeId":"s-main"},
 {"id":"i-fries","externalId":"2004","name":"Fries","price":30},
 {"id":"i-salad","externalId":"2005","name":"Salad","price":0}]}`)
}

package sandbox

import "strconv"

// The word lists of the generator. They are functions, so that they cannot be changed.

func brands() []string {
	return []string{
		"Corner Kitchen", "Big Ladle", "Медный Таз", "Olive & Thyme", "Три Пельменя", "Harbour Grill", "まるいち食堂", "Paprika",
		"Noodle Yard", "Старый Мельник", "La Cuchara", "Saffron Lane",
	}
}

func places() []string {
	return []string{"Delivery", "Pickup and Delivery", "City", "Доставка", "Express", "Menu", "Website", "Riverside"}
}

func categoryNames() []string {
	return []string{
		"Burgers", "Pizza", "Пельмени и вареники", "Noodles", "Sushi 🍣", "Soups", "Salads", "Grill", "Desserts", "Drinks",
		"Breakfast", "Street food", "Закуски", "Pasta", "Bowls", "Vegan 🌱", "Kids", "Combos", "Bakery", "Seafood",
		"Горячие блюда", "丼もの", "Sides", "Sauces", "Coffee ☕", "Lemonades", "Wraps", "Tacos", "Curry", "Season's menu",
	}
}

// dishName returns the name of the k-th dish. Its words depend only on k, so
// that names differ; rng chooses their form.
func dishName(d *rng, k int) string {
	style := []string{
		"Smoked", "Crispy", "Grandmother's", "Spicy", "Grilled", "Farmhouse", "Wood-fired", "Slow-cooked", "Classic", "Double",
		"Golden", "Honey-glazed", "Peppered", "Garden", "Charcoal", "Roast", "Sweet chilli", "Truffle", "Lemon", "Garlic",
	}
	main := []string{
		"chicken burger", "beef burger", "salmon bowl", "pork ramen", "margherita pizza", "mushroom risotto", "lamb kebab",
		"tuna tartare", "potato gratin", "duck noodles", "shrimp taco", "vegetable curry", "cheese pierogi", "turkey wrap",
		"eggplant lasagne", "cod fish and chips", "pumpkin soup", "Caesar salad", "halloumi skewers",
	}
	with := []string{
		"", "with herbs", "with pickled onion", "with cheddar", "and fries", "with yoghurt sauce", "with sesame", "with basil oil",
		"and coleslaw", "with roasted tomatoes", "on sourdough", "with jalapeño", "with wild rice",
	}
	native := []string{
		"Борщ с говядиной и сметаной", "Пельмени домашние", "Сырники с вареньем",
		"Котлета по-киевски", "Оливье с раками",
		"唐揚げ定食", "牛丼 特盛", "抹茶パフェ", "김치찌개", "麻婆豆腐", "شاورما دجاج",
		"פלאפל בפיתה", "Crème brûlée à la vanille", "Jalapeño-Käse-Spätzle",
	}
	name := style[k%len(style)] + " " + main[k%len(main)]
	if w := with[k%len(with)]; w != "" {
		name += " " + w
	}
	if k%6 == 5 {
		name = native[k/6%len(native)]
		if k/6 >= len(native) {
			name += " № " + strconv.Itoa(k/6)
		}
		return name
	}
	if k >= len(style)*len(main)*len(with) {
		name += " no. " + strconv.Itoa(k)
	}
	if d.n(9) == 0 {
		name += pick(d, []string{" 🌶️", " 🔥", " 🌱", " (new)", " XL"})
	}
	return name
}

func partName(d *rng, kind, i int) string {
	words := [kinds][]string{
		{
			"Ketchup", "Garlic sauce", "BBQ sauce", "Sour cream", "Сметана", "Tartar sauce", "Teriyaki", "Pesto", "Mustard", "Tahini",
			"Sriracha", "Cheese sauce", "Соус ткемали",
		},
		{"Cheddar", "Mozzarella", "Parmesan", "Blue cheese", "Feta", "Сулугуни", "Gouda", "Halloumi", "Brie", "Vegan cheese"},
		{
			"Bacon", "Fried egg", "Jalapeño", "Mushrooms", "Avocado", "Грибы", "Olives", "Pickles", "Caramelised onion", "Sweetcorn",
			"Rocket", "Anchovies", "Sun-dried tomatoes",
		},
		{"Brioche bun", "Sourdough", "Rye bread", "Лепёшка", "Pita", "Gluten-free bun", "Ciabatta", "Lavash", "Baguette"},
		{
			"French fries", "Mashed potatoes", "Steamed rice", "Гречка", "Grilled vegetables", "Coleslaw", "Sweet potato fries",
			"Green salad", "Onion rings",
		},
		{"Cola", "Lemonade", "Orange juice", "Морс", "Iced tea", "Mineral water", "Cappuccino", "Kvass", "Ayran", "緑茶"},
		{"Chilli flakes", "Smoked paprika", "Oregano", "Карри", "Sesame", "Fresh coriander", "Sea salt", "Zaatar", "Lemon zest"},
		{"Rare", "Medium", "Well done", "No onion", "Без лука", "Extra crispy", "Cut in half", "No salt", "Sauce on the side"},
	}
	size := []string{"", " 30 g", " 50 g", " 80 g", " double", " extra", " small", " large"}
	list := words[kind]
	name := list[i%len(list)] + size[i/len(list)%len(size)]
	if round := i / (len(list) * len(size)); round > 0 {
		name += " " + strconv.Itoa(round+1)
	}
	if d.n(40) == 0 {
		name += " ⭐"
	}
	return name
}

func groupName(d *rng, kind int) string {
	names := [kinds][]string{
		{"Sauce", "Choose a sauce", "Соус"},
		{"Cheese", "Extra cheese", "Сыр"},
		{"Toppings", "Add to your dish", "Добавки"},
		{"Bread", "Bun", "Хлеб"},
		{"Side", "Choose a side", "Гарнир"},
		{"Drink", "Drinks", "Напиток"},
		{"Spices", "Seasoning", "Специи"},
		{"How to cook it", "Wishes", "Пожелания"},
	}
	return pick(d, names[kind])
}

func sentences() []string {
	return []string{
		"Made to order in our open kitchen and delivered hot.",
		"Slow-cooked for six hours with bay leaf, black pepper and a little patience.",
		"Served with a side of seasonal vegetables and our own bread.",
		"Contains gluten, milk and traces of nuts.",
		"Vegetables come from a farm forty minutes away.",
		"A favourite since the day we opened.",
		"Готовим по семейному рецепту из фермерских продуктов.",
		"Подаём с зеленью, сметаной и тёплым хлебом.",
		"Choose your toppings, sauces and sides below.",
		"Mildly spicy; ask for more heat if you dare 🌶️.",
		"毎朝仕込む出汁と国産の野菜を使っています。",
		"Enough for one very hungry person, or two who share.",
		"The crust is thin, the oven is hot, the cheese is generous.",
		"Marinated overnight with garlic, lemon and mountain herbs.",
	}
}

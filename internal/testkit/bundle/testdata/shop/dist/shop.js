document.title="Shop";
